/// Which of App Attest's two environments a simulated app runs in.
public enum SimulatedEnvironment: Sendable, CaseIterable {
    case development
    case production

    /// The AAGUID in authenticator data ("Validating apps that connect to your server", step 8).
    public var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// The text in field 7 of receipts.
    public var receiptName: String {
        switch self {
        case .development: "sandbox"
        case .production: "production"
        }
    }
}
