import AssayCore
import AssayKit
import Testing

@Suite("Reading requests")
struct RequestFieldsTests {
    @Test("Each field may be spelled in either way, mixed in one body")
    func spellings() throws {
        let fields = try RequestFields(["key_id": "AAAA", "attestationStatement": "AQID", "limited_use": true])
        #expect(try fields.bytes("keyId") == [0, 0, 0])
        #expect(try fields.bytes("attestationStatement") == [1, 2, 3])
        #expect(try fields.bool("limitedUse"))
    }

    @Test("Absent, null and empty are the same")
    func absent() throws {
        let fields = try RequestFields(["a": nil, "b": ""])
        #expect(try fields.optionalString("a") == nil)
        #expect(try fields.optionalString("b") == nil)
        #expect(try fields.optionalString("c") == nil)
        #expect(try !fields.bool("a"))
        #expect(throws: InvalidRequest.self) { try fields.string("a") }
        #expect(throws: InvalidRequest.self) { try fields.bytes("b") }
    }

    @Test("A field that is there twice is refused, however it is spelled")
    func twice() throws {
        let body = try JSON.parse(Array(#"{"a_b":"x","aB":"x","c":"x","c":"x","other":1,"other":2}"#.utf8))
        let fields = try RequestFields(body)
        #expect(throws: InvalidRequest.self) { try fields.string("aB") }
        #expect(throws: InvalidRequest.self) { try fields.string("c") }
    }

    @Test("Bytes are read in both alphabets, padded or not", arguments: ["++//", "--__", "AQ==", "AQ"])
    func bytes(_ text: String) throws {
        #expect(try RequestFields(["a": .string(text)]).bytes("a") == Base64.decode(text))
    }

    @Test(
        "A wrong type is refused by the field's name", arguments: [JSON.integer(5), .bool(true), [], [:], .string("*")])
    func types(_ value: JSON) throws {
        let fields = try RequestFields(["someField": value])
        let error = #expect(throws: InvalidRequest.self) { try fields.bytes("someField") }
        #expect(error?.message.contains("someField") == true)
    }

    @Test("Text and bytes beyond the limit are refused")
    func limit() throws {
        let fields = try RequestFields(["a": "AAAAAAAA"], bytesLimit: 7)
        #expect(throws: InvalidRequest.self) { try fields.string("a") }
        #expect(try fields.bytes("a").count == 6)
        let error = #expect(throws: InvalidRequest.self) { try RequestFields(["a": "AAAAAAAA"], bytesLimit: 5) }
        #expect(error?.message.contains("'a'") == true)
    }

    @Test(
        "Texts beyond the limit together are refused, in lists and in messages too",
        arguments: [
            ["a": "AAAA", "b": "AAAA"], ["a": ["AAAA", "AAAA"]], ["a": ["b": [["c": "AAAA"], ["c": "AAAA"]]]],
        ] as [JSON])
    func together(_ body: JSON) {
        #expect(throws: Never.self) { try RequestFields(body, bytesLimit: 6) }
        #expect(throws: InvalidRequest.self) { try RequestFields(body, bytesLimit: 5) }
    }

    @Test("A list of bytes is read in both alphabets, as a single text too, and bounded in its length")
    func byteLists() throws {
        let fields = try RequestFields(["chain": ["AQ==", "--__"], "one": "AQ", "empty": [""], "mixed": ["AQ", 1]])
        #expect(try fields.bytesList("chain", atMost: 2) == [[1], [0xFB, 0xEF, 0xFF]])
        #expect(try fields.bytesList("one", atMost: 2) == [[1]])
        #expect(try fields.bytesList("none", atMost: 2) == [])
        #expect(throws: InvalidRequest.self) { try fields.bytesList("chain", atMost: 1) }
        #expect(throws: InvalidRequest.self) { try fields.bytesList("empty", atMost: 1) }
        #expect(throws: InvalidRequest.self) { try fields.bytesList("mixed", atMost: 2) }
    }

    @Test("A body that is no object is refused", arguments: [JSON.null, [], "text", 1, true])
    func noObject(_ body: JSON) {
        #expect(throws: InvalidRequest.self) { try RequestFields(body) }
    }
}
