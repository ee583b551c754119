import AssayCore
import AssayCrypto
import Testing

@Suite struct HKDFTests {
    struct Vector: Sendable {
        let material: [UInt8]
        let salt: [UInt8]
        let info: [UInt8]
        let pseudorandomKey: String
        let output: String
    }

    // RFC 5869, appendices A.1 to A.3.
    static let vectors = [
        Vector(
            material: [UInt8](repeating: 0x0B, count: 22), salt: Array(0x00...0x0C), info: Array(0xF0...0xF9),
            pseudorandomKey: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            output: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Vector(
            material: Array(0x00...0x4F), salt: Array(0x60...0xAF), info: Array(0xB0...0xFF),
            pseudorandomKey: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            output: "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"),
        Vector(
            material: [UInt8](repeating: 0x0B, count: 22), salt: [], info: [],
            pseudorandomKey: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            output: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]

    @Test("Keys are derived as in RFC 5869, appendix A", arguments: vectors)
    func published(_ vector: Vector) throws {
        let material = SecretBytes(vector.material)
        let extracted = HKDFSHA256.extract(salt: vector.salt, inputKeyMaterial: material)
        #expect(try extracted == SecretBytes(fromHex(vector.pseudorandomKey)))
        let expected = try fromHex(vector.output)
        let derived = try HKDFSHA256.derive(
            from: material, salt: vector.salt, info: vector.info, count: expected.count)
        #expect(derived == SecretBytes(expected))
    }

    @Test("The longest output is 8160 bytes, and a shorter one begins it", arguments: [1, 31, 32, 33, 8160])
    func lengths(_ count: Int) throws {
        let key = SecretBytes([UInt8](repeating: 7, count: 32))
        let longest = try HKDFSHA256.expand(pseudorandomKey: key, info: [1], count: HKDFSHA256.maximumByteCount)
        let output = try HKDFSHA256.expand(pseudorandomKey: key, info: [1], count: count)
        #expect(output.count == count)
        let begins = longest.withUnsafeBytes { longest in output.withUnsafeBytes { longest.starts(with: $0) } }
        #expect(begins)
    }

    @Test("No other length is derived", arguments: [Int.min, -1, 0, 8161, Int.max])
    func refusedLengths(_ count: Int) {
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try HKDFSHA256.expand(pseudorandomKey: SecretBytes([1]), info: [], count: count)
        }
    }
}
