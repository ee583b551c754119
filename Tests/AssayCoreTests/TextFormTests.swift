import AssayCore
import Foundation
import Testing

/// What editors accept by a pattern, and what the server accepts by its decoding, is the same text, as far as a pattern
/// can say it.
@Suite("The forms of text in policies")
struct TextFormTests {
    private func matches(_ text: String, _ form: TextForm) throws -> Bool {
        let expression = try NSRegularExpression(pattern: form.pattern)
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    private func decodes<Value: WrittenAsText>(_ text: String, as type: Value.Type) -> Bool {
        guard let data = try? JSONEncoder().encode([text]) else { return false }
        return (try? JSONDecoder().decode([Value].self, from: data)) != nil
    }

    private static var types: [any WrittenAsText.Type] {
        [SecretReference.self, SecretDigest.self, Instant.self, EndpointURL.self]
    }

    @Test("Each example of a form matches its pattern and is decoded", arguments: types.indices)
    func examples(_ index: Int) throws {
        let type = TextFormTests.types[index]
        #expect(!type.textForm.examples.isEmpty)
        for example in type.textForm.examples {
            #expect(try matches(example, type.textForm))
            let isTaken = decodes(example, as: type)
            #expect(isTaken)
        }
    }

    @Test(
        "Text that is decoded matches the pattern, and text that breaks the pattern is not decoded",
        arguments: [
            ("env:A", 0), ("file:/a\nb", 0), ("env:", 0), ("http:x", 0), ("ENV:A", 0), ("", 0),
            (String(repeating: "aB", count: 32), 1), (String(repeating: "a", count: 63), 1),
            (String(repeating: "g", count: 64), 1), (String(repeating: "a", count: 65), 1),
            ("2026-12-31T23:59:59.5+01:00", 2), ("2026-12-31T23:59:59", 2), ("2026-12-31 23:59:59Z", 2), ("now", 2),
            ("https://a_b.example:65535/x?y=[1]", 3), ("https://[::1]:1/", 3), ("http://127.0.0.1", 3),
            ("http://example.com/", 3), ("https://user@example.com/", 3), ("https://-a/", 3), ("https://a/#f", 3),
            ("https://a/ b", 3), ("https://", 3), ("https://a:123456/", 3), ("HTTPS://a/", 3), ("https://a\\b", 3),
        ])
    func agreement(_ text: String, _ index: Int) throws {
        let type = TextFormTests.types[index]
        let isTaken = decodes(text, as: type)
        #expect(try matches(text, type.textForm) == isTaken)
    }

    @Test("Errors about forms that may hold a secret do not repeat the text", arguments: [0, 1])
    func secrets(_ index: Int) throws {
        let type = TextFormTests.types[index]
        #expect(type.textForm.mayBeSecret)
        func message<Value: WrittenAsText>(_ type: Value.Type) -> String {
            do {
                _ = try JSONDecoder().decode([Value].self, from: Data(#"["hunter2-hunter2"]"#.utf8))
                return ""
            } catch {
                return "\(error)"
            }
        }
        let words = message(type)
        #expect(words.contains("secret"))
        #expect(!words.contains("hunter2"))
    }

    @Test("The digest of a word that attackers try first is refused, with what to do instead")
    func commonSecret() throws {
        // SHA-256 of the empty text.
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let error = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode([SecretDigest].self, from: Data("[\"\(digest)\"]".utf8))
        }
        #expect("\(error)".contains("at random"))
    }
}
