/// Percent-encoding (RFC 3986, section 2.1): a byte as `%` and two hexadecimal digits, which are read in either case.
public enum PercentCoding: Sendable {
    /// Reads bytes one by one, with their escapes decoded.
    ///
    /// - `take`: gets each byte, and whether it was escaped; returns false to end the reading.
    /// - Returns: whether all was read; false at a broken escape, and where `take` said so.
    @inlinable
    public static func decode(
        _ text: some Sequence<UInt8>, _ take: (_ byte: UInt8, _ isEscaped: Bool) -> Bool
    ) -> Bool {
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                guard take(byte, false) else { return false }
                continue
            }
            guard let high = rest.next()?.hexDigitValue, let low = rest.next()?.hexDigitValue,
                take(high << 4 | low, true)
            else { return false }
        }
        return true
    }

    /// A byte as `%` and two digits in upper case, as section 2.1 asks for.
    public static func encode(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
