/// Exchanges a debug token, which an operator has registered: for simulators and tests, never for users.
///
/// The debug token is the value of `AppCheckDebugToken` in the environment (or of `FIRAAppCheckDebugToken`, as older
/// SDKs have it). Without one it is made, kept, and printed once each time the program runs, so that you can register
/// it.
public struct DebugProvider: AppCheckProvider {
    private static let variables = ["AppCheckDebugToken", "FIRAAppCheckDebugToken"]
    private static let name = "debug-token"

    private let given: String?
    private let isPrinted = Lock(false)

    /// Makes a provider.
    ///
    /// - Parameter debugToken: nil for the one of the environment, or one that is made.
    public init(debugToken: String? = nil) {
        given = debugToken
    }

    /// Exchanges the debug token.
    public func token(_ request: TokenRequest) async throws -> IssuedToken {
        let debugToken = try debugToken(request)
        return try await request.service.exchange(
            "exchangeDebugToken", ["debug_token": .text(debugToken)], isLimitedUse: request.isLimitedUse)
    }

    private func debugToken(_ request: TokenRequest) throws(AppCheckError) -> String {
        let (token, isMade) = try current(request.storage, request.environment)
        guard isMade else { return token }
        let isFirst = isPrinted.withLock { isPrinted in
            defer { isPrinted = true }
            return !isPrinted
        }
        if isFirst {
            request.notice("App Check debug token: '\(token)'. Register it with your server to let this device in.")
        }
        return token
    }

    /// The debug token that is used, and whether it is one that was made here.
    func current(
        _ storage: BoundStorage, _ environment: (String) -> String?
    ) throws(AppCheckError) -> (token: String, isMade: Bool) {
        if let set = given ?? Self.variables.compactMap({ environment($0) }).first(where: { !$0.isEmpty }) {
            guard TokenClaims.isToken(set), set.utf8.count <= 256 else {
                throw AppCheckError(
                    .invalidConfiguration, "The debug token that is set is empty, too long, or has spaces in it.")
            }
            return (set, false)
        }
        let stored = storage.load(Self.name).map { String(decoding: $0, as: UTF8.self) }
        if let stored, Self.isUUID(stored) { return (stored, true) }
        let made = Self.newUUID()
        storage.save(Array(made.utf8), as: Self.name)
        return (made, true)
    }

    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36 && text.utf8.allSatisfy { $0.hexValue != nil || $0 == UInt8(ascii: "-") }
    }

    /// A UUID of version 4 (RFC 9562), in capital letters as Apple writes it.
    private static func newUUID() -> String {
        // In bounds: 16 bytes.
        var bytes = (0..<16).map { _ in UInt8.random(in: 0 ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += HexText.encode(CollectionOfOne(byte)).utf8.map { $0 > 0x60 ? $0 - 0x20 : $0 }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
