public import AssayCore

/// Why a token of Play Integrity is refused.
public struct PlayRefusal: Error, Sendable, Hashable {
    /// The reason, which the provider's descriptor lists.
    public let reason: Reason
    /// Both values, or the place, for the record; nil where the reason says it all.
    @Exact public private(set) var detail: String?

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    /// A text from outside, in a detail: short and printable.
    static func quoted(_ text: String?) -> String {
        guard let text else { return "absent" }
        let bytes = text.utf8.prefix(128).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
