internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayPolicy

/// `assay policy bundle verify`.
struct BundleVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a bundle, and print what is in it; offline.",
        discussion: """
            Prints the version, when it was signed and when it is out of date, the revision of its policies, and its files with their \
            sizes. What the policies say is not checked. Exits with 1 when the bundle is refused or out of date.
            """)

    @Option(
        help: ArgumentHelp(
            "A public key in PEM that may have signed it; may be given several times.", valueName: "file"),
        completion: .file(extensions: ["pem", "pub"]))
    var key: [String]

    @Argument(help: "The file of the bundle.")
    var file: String

    func run() throws {
        let (keys, bytes) = try inputs()
        let bundle: PolicyBundle
        do throws(PolicyBundleError) {
            bundle = try PolicyBundle.open(bytes, trusting: keys)
        } catch {
            Terminal.report("\(file): \(error)")
            throw ExitCode.refused
        }
        var lines = [
            ("version", "\(bundle.version)"), ("signed", "\(bundle.issued)"),
            ("expires", bundle.expires.map { "\($0)" } ?? "never"),
            ("revision", "\(bundle.policies(in: file).revision)"),
        ]
        lines += bundle.files.map { ("file", "\($0.name)  \($0.bytes.count.counting("byte"))") }
        for (name, value) in lines {
            try Terminal.say(name + String(repeating: " ", count: 10 - name.utf8.count) + value)
        }
        if let end = bundle.expires, end <= HostClock.system.now {
            Terminal.report("\(file): it is out of date since \(end)")
            throw ExitCode.refused
        }
    }

    private func inputs() throws -> (keys: [PublicKey], bundle: [UInt8]) {
        do {
            return (
                try key.map { try BundleKeyFile.publicKey($0) },
                try SecretFile.read(file, limit: PolicyBundle.byteLimit, isSecret: false)
            )
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}

/// The files of the keys of bundles.
enum BundleKeyFile {
    private static let limit = 16_384

    /// - Throws: the file, and why it is not a key.
    static func publicKey(_ path: String) throws -> PublicKey {
        let text = try SecretFile.read(path, limit: limit, isSecret: false)
        do {
            return try PublicKey(pem: SecretText.pem(text))
        } catch {
            throw BundleKeyError(
                "\(path) is not a public key in PEM: \((error as? CryptoError)?.message ?? "\(error)")")
        }
    }

    /// - Throws: the file, and why it is not a key, or why it is not private.
    static func privateKey(_ path: String) throws -> PrivateKey {
        let text = try SecretFile.read(path, limit: limit)
        do {
            return try PrivateKey(pem: SecretText.pem(text))
        } catch {
            throw BundleKeyError(
                "\(path) is not a private key in PEM: \((error as? CryptoError)?.message ?? "\(error)")")
        }
    }
}

/// Why a file of a command is not used.
struct BundleKeyError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
