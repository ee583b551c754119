import AssayCore
import AssayTesting

/// The two numbers of a P-256 signature, to be written in ways that a verifier must take or refuse.
struct ECDSANumbers {
    /// 32 bytes each, unless set otherwise.
    var r: [UInt8]
    var s: [UInt8]

    init(r: [UInt8], s: [UInt8]) {
        self.r = r
        self.s = s
    }

    /// Takes a DER signature apart, as a device has made it.
    init(_ der: [UInt8]) {
        let rEnd = 4 + Int(der[3])
        r = Self.padded(der[4..<rEnd])
        s = Self.padded(der[(rEnd + 2)...])
    }

    var encoded: [UInt8] {
        DERWriter.sequence(DERWriter.integer(magnitude: r), DERWriter.integer(magnitude: s))
    }

    /// One of `s` and `n − s` is at most half of the order.
    var withLowS: ECDSANumbers { ECDSANumbers(r: r, s: [s, negatedS].min(by: Self.isLess) ?? s) }
    var withHighS: ECDSANumbers { ECDSANumbers(r: r, s: [s, negatedS].max(by: Self.isLess) ?? s) }

    var raw: [UInt8] { r + s }

    /// A superfluous zero before `r`.
    var overlong: [UInt8] {
        DERWriter.sequence(DERWriter.value(0x02, [0, 0] + r), DERWriter.integer(magnitude: s))
    }

    /// `r` with its highest bit set and no zero before it, which DER reads as negative.
    var negative: [UInt8] {
        DERWriter.sequence(DERWriter.value(0x02, [r[0] | 0x80] + r.dropFirst()), DERWriter.integer(magnitude: s))
    }

    private var negatedS: [UInt8] { P256Numbers.subtract(s, from: P256Numbers.order) }

    private static func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }

    private static func padded(_ integer: ArraySlice<UInt8>) -> [UInt8] {
        let digits = integer.drop { $0 == 0 }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
