import Testing

@testable import AssayCrypto

// OpenSSL refuses these encodings as well; that we do so before asking it is what is tested here.
@Suite struct ECDSASignatureFormatTests {
    static func isStrict(_ der: [UInt8]) -> Bool {
        der.withUnsafeBufferPointer { ECDSASignatureFormat.isStrictDER($0, curve: .p256) }
    }

    static let long = [UInt8](repeating: 0x7F, count: 32)

    @Test(
        "A SEQUENCE of two minimal positive INTEGERs is strict",
        arguments: [
            [0x30, 6, 2, 1, 1, 2, 1, 0x7F], [0x30, 7, 2, 2, 0, 0x80, 2, 1, 1], [0x30, 7, 2, 1, 1, 2, 2, 0, 0xFF],
            [0x30, 68, 2, 32] + long + [2, 32] + long,
            [0x30, 70, 2, 33, 0, 0x80] + long.dropFirst() + [2, 33, 0, 0x80] + long.dropFirst(),
        ] as [[UInt8]])
    func strict(_ der: [UInt8]) {
        #expect(Self.isStrict(der))
    }

    @Test(
        "Any other encoding is not",
        arguments: [
            [], [0x30], [0x30, 0], [0x31, 6, 2, 1, 1, 2, 1, 1], [0x30, 6, 3, 1, 1, 2, 1, 1],
            [0x30, 6, 2, 1, 1, 3, 1, 1],
            [0x30, 6, 2, 1, 0, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 1, 0], [0x30, 6, 2, 1, 0x80, 2, 1, 1],
            [0x30, 7, 2, 2, 0, 1, 2, 1, 1], [0x30, 7, 2, 2, 0, 0, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 1, 1, 0],
            [0x30, 7, 2, 1, 1, 2, 1, 1], [0x30, 5, 2, 1, 1, 2, 1, 1], [0x30, 7, 2, 1, 1, 2, 1, 1, 0],
            [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], [0x30, 7, 2, 0x81, 1, 1, 2, 1, 1], [0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
            [0x30, 5, 2, 0, 2, 1, 1], [0x30, 6, 2, 0, 2, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 9, 1],
            [0x30, 6, 2, 4, 1, 1, 1, 1], [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1],
            [0x30, 69, 2, 33, 1] + long + [2, 32] + long, [0x30, 70, 2, 34, 0, 0x80] + long + [2, 32] + long,
        ] as [[UInt8]])
    func notStrict(_ der: [UInt8]) {
        #expect(!Self.isStrict(der))
    }

    @Test("Raw and DER turn into each other", arguments: EllipticCurve.allCases)
    func conversion(_ curve: EllipticCurve) {
        let size = curve.coordinateSize
        for zeros in [0, 1, 2, size - 1] {
            for first: UInt8 in [0x01, 0x7F, 0x80, 0xFF] {
                let half =
                    [UInt8](repeating: 0, count: zeros) + [first] + [UInt8](repeating: 0, count: size - zeros - 1)
                let raw = half + half
                var der = [UInt8](repeating: 0, count: ECDSASignatureFormat.maximumDERCount)
                let count = raw.withUnsafeBufferPointer { raw in
                    der.withUnsafeMutableBufferPointer {
                        ECDSASignatureFormat.writeDER(raw: raw, curve: curve, into: $0)
                    }
                }
                let back = der.prefix(count ?? 0).withUnsafeBufferPointer {
                    ECDSASignatureFormat.raw(der: $0, curve: curve)
                }
                #expect(back == raw)
            }
        }
    }
}
