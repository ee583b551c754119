import AssayCrypto
import Testing

struct PEMTests {
    private static let one = "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n"

    @Test(
        "Blocks are found in their order, and what is between them is skipped",
        arguments: [
            ("", []), ("no block at all", []), (one, [[1, 2, 3]]), (one + one, [[1, 2, 3], [1, 2, 3]]),
            ("# the root\r\n" + one + "-----BEGIN PUBLIC KEY-----\n!!\n-----END PUBLIC KEY-----\n", [[1, 2, 3]]),
            ("-----BEGIN CERTIFICATE-----\r\n AQ\t\r\n\r\nID\r\n-----END CERTIFICATE-----", [[1, 2, 3]]),
            ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", [[]]),
        ] as [(String, [[UInt8]])])
    func blocks(_ text: String, _ contents: [[UInt8]]) throws {
        #expect(try PEM.blocks("CERTIFICATE", in: text.utf8) == contents)
    }

    @Test(
        "A block that does not end, and one that is not Base 64, is refused",
        arguments: [
            "-----BEGIN CERTIFICATE-----\nAQID\n", "-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nAQID\n-----END PUBLIC KEY-----\n",
            "-----BEGIN CERTIFICATE-----\n" + one, "-----BEGIN CERTIFICATE-----\nA!ID\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nAQI\n-----END CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n",
        ])
    func malformed(_ text: String) {
        #expect(throws: CertificateError(.malformed)) { try PEM.blocks("CERTIFICATE", in: text.utf8) }
    }

    @Test("Text and chains have limits")
    func limits() {
        let text = [UInt8](repeating: 0x20, count: PEM.byteLimit)
        #expect(throws: Never.self) { try PEM.blocks("CERTIFICATE", in: text) }
        #expect(throws: CertificateError(.tooLarge)) { try PEM.blocks("CERTIFICATE", in: text + [0x20]) }
        #expect(throws: CertificateError(.malformed)) { try Certificate.chain(pem: "".utf8) }
        #expect(throws: CertificateError(.malformed)) { try Certificate.chain(der: []) }
        let many = [[UInt8]](repeating: [1], count: Certificate.chainLimit + 1)
        #expect(throws: CertificateError(.tooLarge)) { try Certificate.chain(der: many) }
        #expect(throws: CertificateError.self) { try Certificate.chain(der: [[1]]) }
    }
}
