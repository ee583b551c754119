import AssayCore
import AssayCrypto
import Testing

@Suite struct DigestTests {
    // FIPS 180-4's examples, by NIST's "Cryptographic Standards and Guidelines: Examples with Intermediate Values".
    @Test(
        "SHA-256 and SHA-384 give the published digests",
        arguments: [
            (
                "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"
            ),
            (
                "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
            ),
        ])
    func published(_ message: String, _ sha256: String, _ sha384: String) {
        #expect(Hex.encode(SHA256.hash(message.utf8)) == sha256)
        #expect(Hex.encode(SHA384.hash(Array(message.utf8))) == sha384)
    }

    @Test("A digest in parts is that of the whole, however it is cut", arguments: [0, 1, 63, 64, 65, 200])
    func parts(_ cut: Int) {
        let message = (0..<200).map { UInt8($0) }
        let whole = SHA256.hash(message)
        let (head, tail) = (message[..<cut], message[cut...])
        #expect(SHA256.hash(head, tail) == whole)
        #expect(SHA256.hash(head, [], tail) == whole)
        #expect(SHA256.hash([], head, tail[..<cut], tail[cut...]) == whole)
        var running = SHA256()
        running.update(head)
        running.update(Array(tail).reversed().reversed())
        #expect(running.finalize() == whole)
    }

    @Test(
        "Equality in constant time is equality",
        arguments: [
            ([], [], true), ([1], [], false), ([1, 2], [1, 2], true), ([1, 2], [1, 3], false),
            ([1, 2], [1, 2, 0], false),
        ] as [([UInt8], [UInt8], Bool)])
    func constantTime(_ left: [UInt8], _ right: [UInt8], _ isEqual: Bool) {
        #expect(ConstantTime.equal(left, right) == isEqual)
        #expect(ConstantTime.equal(right, left[...]) == isEqual)
    }
}
