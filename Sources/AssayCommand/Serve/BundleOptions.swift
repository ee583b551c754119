internal import ArgumentParser
internal import AssayCore
internal import AssayKit
internal import AssayServer

/// How policies come from a URL.
struct BundleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A public key in PEM that verifies the bundle of --policies URL; may be given several times, for a new key next to an "
                + "old one. Read again when it changes.", valueName: "file"),
        completion: .file(extensions: ["pem", "pub"]))
    var bundleKey: [String] = []

    @Option(
        help: "How often the bundle is asked for, on average: each wait is a half to one and a half of it.",
        valueName: "duration", reading: .duration(.seconds(1)...Duration.seconds(86_400)))
    var bundleInterval = Duration.seconds(20)

    @Option(
        help: ArgumentHelp(
            "The folder that keeps the last bundle in force, for a start without the URL, and its version, so that no older one "
                + "takes effect. By default a folder next to the state's file, or ~/.local/state/assay/policies.",
            valueName: "folder"),
        completion: .directory)
    var bundleFolder: String?

    @Option(
        help: ArgumentHelp(
            "Authorities in PEM that the server of the bundle may have its certificate from, in addition to those of the system.",
            valueName: "file"),
        completion: .file(extensions: ["pem", "crt"]))
    var bundleCa: String?

    @Option(
        help: ArgumentHelp(
            "The folder with the plugins.yaml of this server, which a bundle cannot have: it starts programs.",
            valueName: "folder"),
        completion: .directory)
    var bundlePlugins: String?

    private static let keyLimit = 8
    private static let example = "https://policies.example.com/assay.bundle"

    /// - Parameter policies: what --policies says.
    func validate(with policies: String, production: Bool) throws {
        guard Self.isURL(policies) else {
            let given = [
                bundleKey.isEmpty ? nil : "--bundle-key", bundleFolder.map { _ in "--bundle-folder" },
                bundleCa.map { _ in "--bundle-ca" }, bundlePlugins.map { _ in "--bundle-plugins" },
            ].compactMap(\.self)
            guard given.isEmpty else {
                throw ValidationError(
                    "\(given.joined(separator: " and ")) is for policies from a URL, such as --policies \(Self.example); "
                        + "--policies \(policies) is a folder")
            }
            return
        }
        guard let url = EndpointURL(policies) else {
            throw ValidationError(
                "--policies is not a URL that can be called: expected one such as \(Self.example), without a user and a password; "
                    + "http is for this machine alone")
        }
        guard url.isSecure || !production else {
            throw ValidationError("--policies http://… is not for --production: use https")
        }
        guard !bundleKey.isEmpty else {
            throw ValidationError(
                "policies from a URL are a signed bundle: give the public key that verifies it with --bundle-key FILE; "
                    + "`\(AssayProgram.current.name) policy bundle keygen` makes one")
        }
        guard bundleKey.count <= Self.keyLimit else {
            throw ValidationError("--bundle-key may be given \(Self.keyLimit) times")
        }
    }

    /// Where a server has its policies from.
    func origin(of policies: String) -> PolicyOrigin {
        guard Self.isURL(policies) else { return .folder(policies) }
        var origin = PolicyBundleOrigin(url: policies, keyFiles: bundleKey)
        origin.folder = bundleFolder
        origin.interval = bundleInterval
        origin.authorityFile = bundleCa
        origin.pluginFolder = bundlePlugins
        return .bundle(origin)
    }

    /// A folder has no such name, at least when it is written as a path.
    private static func isURL(_ policies: String) -> Bool {
        let start = policies.lowercasedASCII
        return start.starts(withExactly: "https:") || start.starts(withExactly: "http:")
    }
}
