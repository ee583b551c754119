#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting

/// `assay token authority`.
struct TokenAuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority", abstract: "Print what a policy needs to trust simulated devices.",
        discussion: """
            Makes the file if it does not exist. Everybody who has it can simulate devices of every app that trusts \
            it: trust it in no policy of a server that real apps use.
            """)

    @Argument(help: "The file of the authority, which has mode 0600.", completion: .file())
    var file: String

    @Option(help: "Whose devices the policy is to trust.")
    var platform = Platform.apple

    /// Kinds of simulated devices.
    enum Platform: String, ExpressibleByArgument, CaseIterable {
        case apple, android
    }

    func run() throws {
        do {
            let authority = SimulatedAuthorityFile(file)
            try authority.makeIfMissing()
            let trust = "Trusts the simulated devices of \(Self.shown(file)), and no others."
            let section: [String]
            switch platform {
            case .apple:
                section =
                    [
                        "# Under `providers` of the app. \(trust)", "app_attest:",
                        "  receipts: ignored  # those of the simulated devices have another root each time",
                    ] + Self.lines("trust_anchor", try authority.authority().rootCertificatePEM)
            case .android:
                let digest = Hex.encode(SimulatedAndroidState().signingDigest)
                section =
                    [
                        "# Under `providers` of an app whose section `android` has `signing_digests: [\"\(digest)\"]`. \(trust)",
                        "android_key:",
                    ] + Self.lines("roots", try authority.androidAuthority().rootPEM)
            }
            for line in section { try Terminal.say(line) }
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    private static func lines(_ key: String, _ pem: String) -> [String] {
        ["  \(key): |"] + pem.split(separator: "\n").map { "    \($0)" }
    }

    /// The name in a comment, on one line.
    private static func shown(_ file: String) -> String {
        String(decoding: file.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
#endif
