/// Which of Apple's two App Attest environments made a key.
public enum AppAttestEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
    case development
    case production

    /// The environment that an authenticator's identifier stands for; nil for any other identifier.
    init?(aaguid: some Collection<UInt8>) {
        guard let found = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = found
    }

    /// The identifier in attested credential data (Apple, Validating Apps That Connect to Your Server): 16 bytes.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// What receipts call the environment.
    var receiptName: String {
        switch self {
        case .development: "sandbox"
        case .production: "production"
        }
    }
}
