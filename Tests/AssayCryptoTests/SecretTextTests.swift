import AssayCore
import AssayCrypto
import Testing

@Suite("Secrets as files, shells and hosting panels write them")
struct SecretTextTests {
    private static let key: String = {
        let key = try? PrivateKey.generate(.ec(.p256)).pem()
        return key?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
    }()

    private static var lines: [String] { key.split(separator: "\n").map(String.init) }

    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let write: @Sendable (String) -> [UInt8]

        init(_ name: String, _ write: @escaping @Sendable (String) -> String) {
            testDescription = name
            self.write = { Array(write($0).utf8) }
        }
    }

    /// What may be done to a whole document, whether PEM or JSON.
    static let wholes: [Form] = [
        Form("as it was") { $0 },
        Form("without the last line end") { String($0.dropLast()) },
        Form("with CRLF") { $0.replacing("\n", with: "\r\n") },
        Form("with a byte-order mark") { "\u{FEFF}\($0)" },
        Form("in quotation marks") { "\"\($0)\"" },
        Form("in apostrophes, with a line end after them") { "'\($0)'\n" },
        Form("in quotation marks twice") { "'\"\($0)\"'" },
        Form("with spaces around it") { " \t\n\($0) \n\n" },
        Form("as Base64") { Base64.encode($0.utf8) },
        Form("as Base64 without padding, of the alphabet for URLs") { Base64.encodeURL($0.utf8) },
        Form("as Base64 in lines") { text in
            let digits = Array(Base64.encode(text.utf8))
            return stride(from: 0, to: digits.count, by: 76)
                .map { String(digits[$0..<min($0 + 76, digits.count)]) }.joined(separator: "\r\n")
        },
        Form("as Base64 in quotation marks, of a text with a byte-order mark") {
            "\"\(Base64.encode("\u{FEFF}\($0)".utf8))\""
        },
    ]

    static let keys: [Form] =
        wholes + [
            Form("with \\n for line ends") { $0.replacing("\n", with: "\\n") },
            Form("with \\r\\n for line ends, in quotation marks") {
                "\"\($0.replacing("\n", with: "\\r\\n"))\""
            },
            Form("with \\\\n for line ends") { $0.replacing("\n", with: "\\\\n") },
            Form("with spaces for line ends") { $0.replacing("\n", with: " ") },
            Form("without line ends") { $0.replacing("\n", with: "") },
            Form("with indented lines") { $0.replacing("\n", with: "\n    ") },
            Form("with an explanation before it") { "Bag Attributes\n    friendlyName: a key\n\($0)" },
            Form("as Base64 of \\n for line ends") { Base64.encode($0.replacing("\n", with: "\\n").utf8) },
        ]

    @Test("A key in PEM is the same in each form that leaves no doubt", arguments: keys)
    func pem(_ form: Form) throws {
        #expect(String(decoding: try SecretText.pem(form.write(Self.key)), as: UTF8.self) == Self.key)
    }

    @Test("All blocks are read, such as the certificates of a chain")
    func blocks() throws {
        let public_ = String(
            decoding: try PrivateKey(pem: Array(Self.key.utf8)).publicKey.pem(), as: UTF8.self)
        let both = Self.key + "\nand\n" + public_
        let read = try SecretText.pem(Array(both.replacing("\n", with: "\\n").utf8))
        #expect(String(decoding: read, as: UTF8.self) == Self.key + public_)
    }

    @Test(
        "What is no PEM, or not the whole, is refused with its cause, and nothing of it is told",
        arguments: [
            ("", "empty"), (" \r\n", "empty"), ("\"\"", "empty"),
            ("AuthKey_ABC123DEFG", "no line -----BEGIN"),
            ("/etc/assay/AuthKey_ABC123DEFG.p8", "path of a file"), ("/run/secrets/apple", "path of a file"),
            ("{\"private_key\": \"KEY\"}", "it is JSON"),
            ("-----BEGIN PRIVATE KEY-----", "cut off"),
            ("-----BEGIN PRIVATE KEY", "has no end"),
            ("LINES", "cut off"),
            ("\"KEY", "at one end only"), ("KEY'", "at one end only"),
            ("BODY", "without the lines BEGIN and END"),
            ("-----BEGIN PRIVATE KEY-----\nBODY=x\n-----END PRIVATE KEY-----", "not Base64"),
            ("-----BEGIN PRIVATE KEY-----\n\\q\n-----END PRIVATE KEY-----", "not Base64"),
            ("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "not Base64"),
            ("-----BEGIN PRIVATE KEY-----\nBODY\n-----END PUBLIC KEY-----", "does not belong"),
            ("-----BEGIN private key-----\nBODY\n-----END private key-----", "damaged"),
            (
                "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nBODY\n-----END EC PRIVATE KEY-----",
                "encrypted"
            ),
            ("\u{0}KEY", "NUL"),
        ])
    func refusedPEM(_ text: String, _ cause: String) throws {
        let body = Self.lines.dropFirst().dropLast().joined()
        let text = text.replacing("LINES", with: Self.lines.dropLast().joined(separator: "\n"))
            .replacing("BODY", with: body).replacing("KEY", with: Self.key)
            .replacing("PRIVATE \(Self.key)", with: "PRIVATE KEY").replacing("PUBLIC \(Self.key)", with: "PUBLIC KEY")
        let error = try #require(throws: SecretError.self) { _ = try SecretText.pem(Array(text.utf8)) }
        #expect(error.message.contains(cause), "\(error)")
        #expect(!error.message.contains(body.prefix(8)))
    }

    @Test("UTF-16 is named, in either order", arguments: [[0xFF, 0xFE, 0x2D, 0], [0xFE, 0xFF, 0, 0x2D]])
    func utf16(_ bytes: [UInt8]) throws {
        let error = try #require(throws: SecretError.self) { _ = try SecretText.pem(bytes) }
        #expect(error.message.contains("UTF-16"))
    }

    private static let file = """
        {
          "type": "service_account",
          "name": "a \\"quoted\\" \\\\ name",
          "private_key": "-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n"
        }

        """

    static let documents: [Form] =
        wholes + [
            Form("with escaped quotation marks, as a string of JSON") {
                String(decoding: JSON.string($0).encoded, as: UTF8.self)
            },
            Form("with escaped quotation marks alone") {
                String(decoding: JSON.string($0).encoded.dropFirst().dropLast(), as: UTF8.self)
            },
            Form("with \\n for the line ends between values") { $0.replacing("\n", with: "\\n") },
            Form("with line ends for \\n in strings") { $0.replacing("\\n", with: "\n") },
        ]

    @Test("A document in JSON is the same in each form that leaves no doubt", arguments: documents)
    func json(_ form: Form) throws {
        // A CR in a string is no line end of JSON, and none of PEM.
        let read = String(decoding: try SecretText.json(form.write(Self.file)), as: UTF8.self).replacing(
            "\\r", with: "")
        #expect(try JSON.parse(read.utf8) == JSON.parse(Self.file.utf8))
    }

    @Test(
        "What is no JSON, or not the whole, is refused with its cause, and nothing of it is told",
        arguments: [
            ("", "empty"), ("service_account", "neither { nor ["), ("/run/secrets/account.json", "path of a file"),
            ("{\"type\": \"service_account\", \"a\": 1", "not JSON"), ("{\"type\": \"service_account\"", "cut off"),
            ("{type: service_account}", "not JSON"),
            ("{\\\"type\\\": \"service_account\"}", "escaped"), ("'{\"type\": 1}", "at one end only"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "it is PEM"),
        ])
    func refusedJSON(_ text: String, _ cause: String) throws {
        let error = try #require(throws: SecretError.self) { _ = try SecretText.json(Array(text.utf8)) }
        #expect(error.message.contains(cause), "\(error)")
        #expect(!error.message.contains("service_account"))
    }

    @Test("An error of a source names the reference")
    func reference() throws {
        let source = SecretSource { $0.place == .environment("SET") ? Array("text".utf8) : nil }
        let unset = try #require(throws: SecretError.self) {
            _ = try source.pem(SecretReference(.environment("UNSET")))
        }
        #expect(unset.message == "env:UNSET is not set")
        let other = try #require(throws: SecretError.self) { _ = try source.json(SecretReference(.environment("SET"))) }
        #expect(other.message == "env:SET holds no JSON: it begins with neither { nor [")
    }
}
