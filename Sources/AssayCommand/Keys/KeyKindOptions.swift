internal import ArgumentParser
internal import AssayEngine
internal import AssayPolicy

/// What kind of signing key to make.
struct KeyKindOptions: ParsableArguments {
    @Option(
        help: "The algorithm of a signing key: RS256 or ES256. By default that of the active signing key, or RS256.")
    var algorithm: KeyAlgorithm?

    @Option(
        help: "The size of an RSA key: 2048 or 3072. By default that of the active signing key, or 2048.",
        valueName: "rsa-bits", reading: .number(among: [2048, 3072]))
    var rsaBits: Int?

    func validate() throws {
        if rsaBits != nil, algorithm == .es256 { throw ValidationError("--rsa-bits has no effect with ES256") }
    }

    /// What to make; nil for another like the one that signs, or for the standard kind.
    ///
    /// - Parameter presentBits: the size of an RSA key for which none is asked.
    func policy(_ presentBits: () throws(KeyError) -> Int) throws(KeyError) -> TokenPolicy? {
        switch algorithm {
        case .es256?: return TokenPolicy(algorithm: .es256)
        case .rs256?:
            let bits = if let rsaBits { rsaBits } else { try presentBits() }
            return TokenPolicy(algorithm: .rs256, rsaBits: bits)
        case nil: return rsaBits.map { TokenPolicy(algorithm: .rs256, rsaBits: $0) }
        }
    }
}

/// The algorithms of signing keys.
enum KeyAlgorithm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
}
