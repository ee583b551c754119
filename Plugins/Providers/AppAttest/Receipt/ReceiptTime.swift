internal import AssayKit

/// Times in receipts: ISO 8601 in UTC with two or three fractional digits, such as `2026-10-09T07:25:21.62Z`.
enum ReceiptTime {
    /// The instant that a field's value names; nil for any other form.
    static func read(_ value: ArraySlice<UInt8>) -> Instant? {
        // Apple drops trailing zeros of the milliseconds.
        guard (20...24).contains(value.count), value.last == UInt8(ascii: "Z"), value.contains(UInt8(ascii: "T")),
            let text = String(validating: value, as: UTF8.self)
        else { return nil }
        return Instant(rfc3339: text)
    }
}
