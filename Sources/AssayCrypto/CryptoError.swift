public import AssayCore
internal import CLibCrypto

/// A failure of a cryptographic operation other than "the signature is wrong", which is a plain `false`.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, as a stable name; open, so that new ones can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The stable name, as it is logged.
        @Exact public private(set) var description: String

        /// Makes a code from its name in lower_snake_case.
        public init(_ name: String) {
            self.description = name
        }

        /// A key's bytes are not a key of the kind asked for: wrong length, off the curve, or malformed.
        public static let invalidKey = Code("invalid_key")
        /// A well-formed key that is too weak, too large, encrypted, or of an unsupported kind.
        public static let unsupportedKey = Code("unsupported_key")
        /// An argument is outside what the operation allows, such as a nonce of the wrong length.
        public static let invalidArgument = Code("invalid_argument")
        /// A sealed box does not open: wrong key, wrong nonce, wrong associated data, or changed bytes.
        public static let authenticationFailed = Code("authentication_failed")
        /// The library refused an operation on valid arguments: out of memory, or an algorithm that is not installed.
        public static let operationFailed = Code("operation_failed")
    }

    /// What went wrong.
    public let code: Code
    /// What was being done and what was expected, in words; never a secret.
    public let message: String
    /// The reasons that OpenSSL gave, oldest first; empty when it was not asked or gave none.
    public let reasons: [String]

    /// Makes an error; `reasons` are the entries of OpenSSL's error queue.
    public init(_ code: Code, _ message: String, reasons: [String] = []) {
        self.code = code
        self.message = message
        self.reasons = reasons
    }

    /// Errors with the same code are equal: messages may change.
    public static func == (left: CryptoError, right: CryptoError) -> Bool {
        left.code == right.code
    }

    /// The code, the message and OpenSSL's reasons, for logs.
    public var description: String {
        let head = "\(code): \(message)"
        return reasons.isEmpty ? head : "\(head) (\(reasons.joined(separator: "; ")))"
    }

    /// An error from this thread's OpenSSL error queue, which is emptied.
    static func fromQueue(_ code: Code, _ message: String) -> CryptoError {
        CryptoError(code, message, reasons: drainedReasons())
    }

    private static func drainedReasons() -> [String] {
        var reasons: [String] = []
        while case let number = ERR_get_error(), number != 0 {
            if let text = ERR_reason_error_string(number) {
                reasons.append(String(cString: text))
            } else {
                reasons.append("error \(String(number, radix: 16))")
            }
        }
        return reasons
    }
}
