#if Simulator
internal import AssayCore
internal import AssayEngine
internal import AssayTesting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A folder with a policy that trusts simulated devices, and with what a load needs to be one of them.
struct LoadFolder: Sendable {
    static let project = "projects/example-project"
    static let bundle = "ABCDE12345.com.example.app"
    static let package = SimulatedAndroidState().package
    static let backend = "orders"

    /// The app of the policy whose devices are of a platform.
    static func app(on platform: LoadPlatform) -> String {
        "\(project)/apps/1:1234567890:\(platform == .apple ? "ios" : "android"):321abc456def7890"
    }

    let path: String

    private var policyFile: String { "\(path)/load.yaml" }
    private var revokedFile: String { "\(path)/revoked" }
    private var callerFile: String { "\(path)/caller-token" }

    /// The simulated authorities.
    var authority: SimulatedAuthorityFile { SimulatedAuthorityFile("\(path)/authority") }

    /// The bearer token for `verifyAppCheckToken`.
    func caller() throws -> String {
        let text = String(decoding: try SecretFile.read(callerFile, limit: 1024), as: UTF8.self)
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Writes the policy, the authority and the caller's token.
    ///
    /// - Throws: when there is a policy already: none is replaced.
    func make() throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: policyFile) else { throw LoadFailure("\(policyFile) exists already") }
        try files.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try authority.makeIfMissing()
        let token = CallerToken.make()
        try write(token + "\n", to: callerFile)
        try write(#"{"entries": {}}"# + "\n", to: revokedFile)
        try write(policy(caller: CallerToken.hash(of: token)), to: policyFile)
    }

    private func write(_ text: String, to file: String) throws {
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw LoadFailure("\(file) cannot be written") }
    }

    private func policy(caller: String) throws -> String {
        func indented(_ pem: String) -> String {
            pem.split(separator: "\n").map { "                \($0)" }.joined(separator: "\n")
        }
        let revoked = URL(fileURLWithPath: revokedFile).path
        let signer = Hex.encode(SimulatedAndroidState().signingDigest)
        return """
            # Trusts the simulated devices of the file `authority` beside it: for load tests, never for real apps.
            callers:
              load:
                sha256: \(caller)
                permissions: [appCheckTokens.verify]
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest:
                        receipts: ignored
                        trust_anchor: |
            \(indented(try authority.authority().rootCertificatePEM))
                  - id: 1:1234567890:android:321abc456def7890
                    android: {package: \(Self.package), signing_digests: ["\(signer)"]}
                    providers:
                      android_key:
                        revocation: {list: "\(revoked)", stale: accept}
                        roots: |
            \(indented(try authority.androidAuthority().rootPEM))
                consumers:
                  custom_backend: {backends: {\(Self.backend): {}}}

            """
    }
}
#endif
