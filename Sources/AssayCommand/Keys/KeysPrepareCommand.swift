internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys prepare`.
struct KeysPrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Make a key that is published, or opens, but does not sign or seal yet.",
        discussion: """
            The lead is the time in which others can load the key. Admin SDKs keep a key set for 6 hours, and a server of several \
            may publish one without the key for some minutes more: the tokens of a key that signs sooner are refused by \
            those that fetched the key set before. Servers that share the keys must have loaded a sealing key before one of \
            them seals with it; that takes moments. The lead counts from now, so a server should load the key soon.

            With --auto, a signing key of another algorithm or size than the policy of a server asks for is held back by \
            that server: it waits to be activated then, until the policy asks for its kind.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Flag(help: "Make a key that seals artifacts and challenges, instead of one that signs tokens.")
    var sealing = false

    @OptionGroup var kind: KeyKindOptions

    @Option(
        help: "How long before it may sign (default: 7h5m) or seal (default: 10m).", valueName: "duration",
        reading: .duration(.zero...Duration.seconds(30 * 86_400)))
    var lead: Duration?

    @Flag(
        help:
            "It begins by itself when the lead is over; otherwise it waits for `\(AssayProgram.current.name) keys activate`."
    )
    var auto = false

    func validate() throws {
        if sealing, kind.algorithm != nil || kind.rsaBits != nil {
            throw ValidationError("--algorithm and --rsa-bits are for signing keys: every sealing key is AES-256-GCM")
        }
    }

    func run() async throws {
        if !sealing, let lead, lead < KeyAging.backendCacheTime {
            Terminal.note(
                "assay: with a lead of less than 6h, an Admin SDK may have a key set without the key when it signs")
        }
        try await folder.change { [sealing, lead, auto, kind] (store, now) throws(KeyError) in
            if sealing {
                return try store.prepareSealingKey(
                    lead: lead ?? KeyStore.sealingLead, automatic: auto, now: now)
            }
            let wanted = try kind.policy { () throws(KeyError) in try Self.presentBits(store, now) }
            return try store.prepareSigningKey(
                wanted, lead: lead ?? KeyStore.signingLead, automatic: auto, now: now)
        }
    }

    private static func presentBits(_ store: KeyStore, _ now: Instant) throws(KeyError) -> Int {
        let present = try store.list(now: now).first { $0.purpose == .signing && $0.state == .active }
        return present?.algorithm == KeyAlgorithm.rs256.rawValue ? present?.bits ?? 2048 : 2048
    }
}
