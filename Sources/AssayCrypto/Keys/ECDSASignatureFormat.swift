/// The two spellings of an ECDSA signature, and the strict reading of both.
///
/// That `r` and `s` are below the order of the curve is checked by OpenSSL.
enum ECDSASignatureFormat {
    /// The longest DER signature on any curve used here: two INTEGERs of 49 bytes.
    static let maximumDERCount = 2 + 2 * (2 + 49)

    /// Whether the bytes are exactly one SEQUENCE of two positive, minimally encoded INTEGERs in short-form lengths
    /// (X.690, sections 8.3 and 10.1; RFC 3279, section 2.2.3).
    ///
    /// No signature on P-256 or P-384 needs a long-form length, so that any is over-long.
    static func isStrictDER(_ signature: UnsafeBufferPointer<UInt8>, curve: EllipticCurve) -> Bool {
        guard signature.count >= 8, signature.count <= maximumDERCount, signature[0] == 0x30,
            Int(signature[1]) == signature.count - 2,
            let end = endOfInteger(in: signature, at: 2, curve: curve)
        else { return false }
        return endOfInteger(in: signature, at: end, curve: curve) == signature.count
    }

    /// The end of the INTEGER that starts at `start`; nil when it is not positive, or larger than a coordinate.
    private static func endOfInteger(
        in bytes: UnsafeBufferPointer<UInt8>, at start: Int, curve: EllipticCurve
    ) -> Int? {
        guard bytes.count - start >= 3, bytes[start] == 0x02 else { return nil }
        let count = Int(bytes[start + 1])
        guard count >= 1, count <= curve.coordinateSize + 1, bytes.count - start - 2 >= count else { return nil }
        let first = bytes[start + 2]
        if first == 0 {
            // A leading zero only keeps the next byte from reading as a sign; alone it is the number 0.
            guard count > 1, bytes[start + 3] >= 0x80 else { return nil }
        } else {
            guard first < 0x80, count <= curve.coordinateSize else { return nil }
        }
        return start + 2 + count
    }

    /// Writes `r ‖ s` (RFC 7518, section 3.4) as DER; returns the length, or nil for a zero half or a wrong length.
    static func writeDER(
        raw: UnsafeBufferPointer<UInt8>, curve: EllipticCurve, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        let size = curve.coordinateSize
        guard raw.count == 2 * size, output.count >= maximumDERCount else { return nil }
        var end = 2
        for half in [0..<size, size..<2 * size] {
            guard let first = half.first(where: { raw[$0] != 0 }) else { return nil }
            let needsZero = raw[first] >= 0x80
            output[end] = 0x02
            output[end + 1] = UInt8(half.upperBound - first + (needsZero ? 1 : 0))
            end += 2
            if needsZero {
                output[end] = 0
                end += 1
            }
            for index in first..<half.upperBound {
                output[end] = raw[index]
                end += 1
            }
        }
        output[0] = 0x30
        output[1] = UInt8(end - 2)
        return end
    }

    /// The `r ‖ s` form of a strict DER signature; nil for any other bytes.
    static func raw(der: UnsafeBufferPointer<UInt8>, curve: EllipticCurve) -> [UInt8]? {
        guard isStrictDER(der, curve: curve) else { return nil }
        let size = curve.coordinateSize
        var raw = [UInt8](repeating: 0, count: 2 * size)
        var start = 2
        for half in 0..<2 {
            let count = Int(der[start + 1])
            let skipped = der[start + 2] == 0 ? 1 : 0
            let digits = count - skipped
            for index in 0..<digits {
                raw[(half + 1) * size - digits + index] = der[start + 2 + skipped + index]
            }
            start += 2 + count
        }
        return raw
    }
}
