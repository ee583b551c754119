import AssayCore
import AssayCrypto
import Testing

@Suite struct ECPublicKeyTests {
    // Of the scalar 1, whose point is the generator (SEC 2, section 2.4.2).
    static let generator =
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

    @Test("A key keeps its point, and equal points are equal keys", arguments: EllipticCurve.allCases)
    func point(_ curve: EllipticCurve) throws {
        guard case .ec(let key) = try PrivateKey.generate(.ec(curve)).publicKey else {
            Issue.record("not an elliptic-curve key")
            return
        }
        #expect(key.curve == curve)
        #expect(key.x963.count == 1 + 2 * curve.coordinateSize)
        #expect(try ECPublicKey(curve: curve, x963: key.x963) == key)
    }

    @Test("The point of the scalar 1 is the generator")
    func scalar() throws {
        let key = try PrivateKey(p256Scalar: [UInt8](repeating: 0, count: 31) + [1])
        #expect(try key.publicKey == .ec(ECPublicKey(curve: .p256, x963: fromHex(Self.generator))))
        #expect(throws: CryptoError(.invalidKey, "")) {
            try PrivateKey(p256Scalar: [UInt8](repeating: 0, count: 32))
        }
        #expect(throws: CryptoError(.invalidKey, "")) {
            try PrivateKey(p256Scalar: [UInt8](repeating: 0xFF, count: 32))
        }
        #expect(throws: CryptoError(.invalidKey, "")) { try PrivateKey(p256Scalar: [1]) }
    }

    @Test("Points that are no uncompressed point of the curve are refused")
    func refusedPoints() throws {
        let good = try fromHex(Self.generator)
        let (x, y) = (good[1..<33], good[33...])
        var offCurve = good
        offCurve[64] ^= 1
        let prime = try fromHex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let refused: [[UInt8]] = [
            [], [0x00], [0x04], offCurve, [0x03] + x, [0x02] + x, [0x07] + x + y, [0x06] + x + y, [0x00] + x + y,
            good + [0], good.dropLast(), [0x04] + [UInt8](repeating: 0, count: 64), [0x04] + y + x,
            [0x04] + [UInt8](repeating: 0xFF, count: 64), [0x04] + prime + y,
        ]
        for point in refused {
            #expect(throws: CryptoError(.invalidKey, ""), "\(Hex.encode(point))") {
                try ECPublicKey(curve: .p256, x963: point)
            }
        }
        #expect(throws: CryptoError(.invalidKey, "")) { try ECPublicKey(curve: .p384, x963: good) }
        #expect(throws: Never.self) { try ECPublicKey(curve: .p256, x963: good[...]) }
    }

    @Test("A signature in one form is good in that form only, whole or in parts", arguments: EllipticCurve.allCases)
    func forms(_ curve: EllipticCurve) throws {
        let signer = try PrivateKey.generate(.ec(curve))
        guard case .ec(let key) = signer.publicKey else { return }
        let message = (0..<100).map { UInt8($0) }
        for digest in DigestAlgorithm.allCases {
            let der = try signer.sign(message, as: .der, digest: digest)
            let raw = try signer.sign(message, as: .raw, digest: digest)
            #expect(raw.count == 2 * curve.coordinateSize)
            #expect(key.isValidSignature(der: der[...], digest: digest, message: message[...]))
            #expect(key.isValidSignature(raw: raw[...], digest: digest, message: message[...]))
            #expect(
                key.isValidSignature(
                    der: der[...], digest: digest, messageParts: message[..<7], [], message[7...]))
            #expect(key.isValidSignature(raw: raw[...], digest: digest, messageParts: message[..<7], message[7...]))
            #expect(!key.isValidSignature(der: raw[...], digest: digest, message: message[...]))
            #expect(!key.isValidSignature(raw: der[...], digest: digest, message: message[...]))
            #expect(!key.isValidSignature(der: der[...], digest: digest, message: message[1...]))
            #expect(!key.isValidSignature(raw: (raw + [0])[...], digest: digest, message: message[...]))
            #expect(!key.isValidSignature(raw: ([0] + raw)[...], digest: digest, message: message[...]))
            let other: DigestAlgorithm = digest == .sha256 ? .sha384 : .sha256
            #expect(!key.isValidSignature(der: der[...], digest: other, message: message[...]))
        }
    }

    @Test("Raw signatures with r or s of zero, or of the order and above, are not good")
    func ranges() throws {
        guard case .ec(let key) = try PrivateKey.generate(.ec(.p256)).publicKey else { return }
        let order = try fromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let zero = [UInt8](repeating: 0, count: 32)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let most = [UInt8](repeating: 0xFF, count: 32)
        for (r, s) in [(zero, zero), (zero, one), (one, zero), (order, one), (one, order), (most, most)] {
            #expect(!key.isValidSignature(raw: (r + s)[...], digest: .sha256, message: [1]))
        }
    }

    @Test("A signature with a high s is as good as its low twin, for Apple's devices emit both")
    func highS() throws {
        let signer = try PrivateKey.generate(.ec(.p256))
        guard case .ec(let key) = signer.publicKey else { return }
        let raw = try signer.sign([1, 2, 3], as: .raw)
        let order = try fromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var twin = Array(raw[..<32]) + order
        var borrow = 0
        for index in stride(from: 63, through: 32, by: -1) {
            let difference = Int(twin[index]) - Int(raw[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            twin[index] = UInt8(truncatingIfNeeded: difference)
        }
        #expect(twin != raw)
        #expect(key.isValidSignature(raw: raw[...], digest: .sha256, message: [1, 2, 3]))
        #expect(key.isValidSignature(raw: twin[...], digest: .sha256, message: [1, 2, 3]))
    }

    @Test("One key verifies for many threads at once")
    func concurrency() async throws {
        let signer = try PrivateKey.generate(.ec(.p256))
        guard case .ec(let key) = signer.publicKey else { return }
        let signature = try signer.sign([1, 2, 3])
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    (0..<20).allSatisfy { _ in
                        let message: [UInt8] = index.isMultiple(of: 2) ? [1, 2, 3] : [1, 2, 4]
                        let isValid = key.isValidSignature(der: signature[...], digest: .sha256, message: message[...])
                        return isValid == index.isMultiple(of: 2)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 64 && outcomes.allSatisfy { $0 })
    }
}
