internal import AssayCrypto
internal import AssayKit

/// Reads the key files that a section refers to, each once.
struct FleetEngineAccounts {
    private let secrets: SecretSource
    private var known: [SecretReference: FleetEngineAccount] = [:]

    init(_ secrets: SecretSource) {
        self.secrets = secrets
    }

    /// Nil, and a problem, for what cannot be read.
    mutating func account(
        _ reference: SecretReference, at path: [ConfigurationError.Component], _ problems: inout ConfigurationProblems
    ) -> FleetEngineAccount? {
        if let account = known[reference] { return account }
        let account = problems.attempt { () throws(ConfigurationError) in try read(reference, at: path) }
        known[reference] = account
        return account
    }

    private func read(
        _ reference: SecretReference, at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> FleetEngineAccount {
        let found: [UInt8]?
        do throws(SecretError) {
            found = try secrets.resolve(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        guard var bytes = found else { throw ConfigurationError(at: path, "\(reference) is not set") }
        defer { SecretBytes.wipe(&bytes) }
        do throws(ConfigurationError) {
            return try FleetEngineAccount(keyFile: bytes)
        } catch {
            throw ConfigurationError(at: path, "\(reference): \(error.message)")
        }
    }
}
