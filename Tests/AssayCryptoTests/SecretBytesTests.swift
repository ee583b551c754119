import AssayCrypto
import Testing

@Suite("Secrets in memory")
struct SecretBytesTests {
    private let secret = SecretBytes(Array("hunter2".utf8))

    @Test("No way of showing a value shows the bytes, also within another value")
    func hidden() {
        struct Holder {
            let secret: SecretBytes
            let others: [SecretBytes]
        }
        let holder = Holder(secret: secret, others: [secret])
        var dumped = ""
        dump(holder, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\(holder)", "\(Optional(secret) as Any)", dumped] {
            // As text, as numbers, and as hexadecimal digits.
            for form in ["hunter2", "104, 117", "68756e"] { #expect(!text.contains(form), "\(text)") }
        }
        #expect("\(secret)" == "<7 secret bytes>")
    }

    @Test("The bytes are those that were given, and none may be no bytes")
    func bytes() {
        #expect(secret.count == 7)
        #expect(secret.withUnsafeBytes { Array($0) } == Array("hunter2".utf8))
        #expect(SecretBytes([]).count == 0)
        #expect(SecretBytes([]).withUnsafeBytes { $0.isEmpty })
        #expect(SecretBytes("ab".utf8.reversed()).withUnsafeBytes { Array($0) } == [0x62, 0x61])
    }

    @Test("What reading throws is passed on")
    func failure() {
        struct Failure: Error {}
        #expect(throws: Failure.self) { try secret.withUnsafeBytes { _ in throw Failure() } }
    }

    @Test("Two are the same by all of their bytes and their number")
    func equality() {
        #expect(secret == SecretBytes(Array("hunter2".utf8)))
        for other in ["hunter1", "Hunter2", "hunter", "hunter22", ""] {
            #expect(secret != SecretBytes(Array(other.utf8)))
        }
        #expect(SecretBytes([]) == SecretBytes([]))
    }

    @Test("What is wiped is gone")
    func wiped() {
        var bytes = Array("hunter2".utf8)
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}
