import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

/// A provider outside of the kernel with a method and an exchange that refuse unknown fields, and a method that ignores them.
private struct StrictProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    static let fields: [MessageField] = [
        .optional("filterText", .text),
        .optional("parts", .list(.message([.optional("size", .integer(0...9))]), atMost: 4)),
        .optional("inner", .message([.optional("deep", .message([.optional("name", .text)]))])),
        .optional("anything", .message(MessageShape([], isOpen: true))),
    ]

    struct Strict: RequestMessage {
        static var shape: MessageShape? { MessageShape(StrictProvider.fields, refusesUnknownFields: true) }
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    struct Lenient: RequestMessage {
        static var shape: MessageShape? { MessageShape(StrictProvider.fields) }
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    struct Silent: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(name: "strict", summary: "Believes everything.", reasons: [])
    static let methods: [ProviderMethod<StrictProvider>] = [
        .exchange("exchangeStrict") { (provider, request: Strict, context) in .verified(Appraisal(facts: [])) },
        .exchange("exchangeUsual", takesTokenID: true) { (provider, request: Lenient, context) in
            .verified(Appraisal(facts: []))
        },
        .exchange("exchangeSilent") { (provider, request: Silent, context) in .verified(Appraisal(facts: [])) },
        .call("listStrict", MethodPath(.get, "/things/{thingId}", query: ["filterText"])) {
            (provider, request: Strict, context) in [:] as JSON
        },
        .call("listLenient", MethodPath(.get, "/others")) { (provider, request: Lenient, context) in [:] as JSON },
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("Requests that refuse unknown fields")
struct ClosedRequestTests {
    private func message(_ method: String, _ body: JSON, section: String = "{}") async throws -> String? {
        let admin = "admin-token-0123456789"
        let engine = try TestEngine(
            [.provider(StrictProvider.self)],
            policy: "callers: {root: {token: 'env:ADMIN', permissions: [admin]}}\n"
                + TestEngine.policy(providers: "strict: \(section)"),
            secrets: SecretSource { _ in Array(admin.utf8) })
        let reply = await engine.call(method, TestEngine.app, body, credentials: admin)
        guard case .failure(let failure) = reply.result else { return nil }
        #expect(failure.status == .invalidArgument)
        return failure.message
    }

    @Test(
        "A plugin's method refuses what its shape does not name, at any depth, and accepts both spellings and its path's fields",
        arguments: [
            ([:], nil), (["filterText": "x", "thingId": "t"], nil), (["filter_text": "x", "thing_id": "t"], nil),
            (["filterTxt": "x"], "unknown field 'filterTxt'; did you mean `filterText`?"),
            (["filter_txt": "x"], "unknown field 'filter_txt'; did you mean `filter_text`?"),
            (["FilterText": "x"], "unknown field 'FilterText'; did you mean `filterText`?"),
            (["parts": [["size": 1], ["sise": 1]]], "unknown field 'parts.sise'; did you mean `size`?"),
            (["parts": "no list"], nil), (["inner": ["deep": ["name": "x"]]], nil),
            (["inner": ["deep": ["nam": "x"]]], "unknown field 'inner.deep.nam'; did you mean `name`?"),
            (["anything": ["at": ["all": 1]]], nil),
            (
                ["resource": "x"],
                "unknown field 'resource'; known here: `anything`, `filterText`, `inner`, `parts`, `thingId`"
            ),
            (["": "x"], "unknown field ''; known here: `anything`, `filterText`, `inner`, `parts`, `thingId`"),
            (
                ["x\u{1B}[2J": "x"],
                "unknown field 'x?[2J'; known here: `anything`, `filterText`, `inner`, `parts`, `thingId`"
            ),
        ] as [(JSON, String?)])
    func strict(_ body: JSON, _ expected: String?) async throws {
        #expect(try await message("listStrict", body) == expected)
    }

    @Test("A long name is cut in the message")
    func longName() async throws {
        let message = try #require(
            try await message("listStrict", .object([JSONMember(String(repeating: "x", count: 60_000), 1)])))
        #expect(message.utf8.count < 400)
    }

    @Test("An exchange has the fields that the kernel reads of every exchange as well")
    func exchange() async throws {
        #expect(try await message("exchangeStrict", ["limitedUse": true]) == nil)
        #expect(try await message("exchangeStrict", ["limited_use": true, "filterText": "x"]) == nil)
        #expect(
            try await message("exchangeStrict", ["limitdUse": true])
                == "unknown field 'limitdUse'; did you mean `limitedUse`?")
    }

    @Test(
        "Exchanges refuse what their method does not have, unless the policy ignores it, at any depth and in both spellings",
        arguments: [
            (["limitedUse": true, "jti": "a-token-of-mine-0001"], nil),
            (["limited_use": true, "filter_text": "x"], nil),
            (["filterTxt": "x"], "unknown field 'filterTxt'; did you mean `filterText`?"),
            (["limited_used": true], "unknown field 'limited_used'; did you mean `limited_use`?"),
            (["parts": [["sise": 1]]], "unknown field 'parts.sise'; did you mean `size`?"),
            (["parts": [["limitedUse": true]]], "unknown field 'parts.limitedUse'; known here: `size`"),
        ] as [(JSON, String?)])
    func usualExchange(_ body: JSON, _ expected: String?) async throws {
        #expect(try await message("exchangeUsual", body) == expected)
        #expect(try await message("exchangeUsual", body, section: "{unknown_fields: refuse}") == expected)
        #expect(try await message("exchangeUsual", body, section: "{unknown_fields: ignore}") == nil)
    }

    @Test("Nothing is refused of a method that does not say which fields it reads")
    func silentExchange() async throws {
        #expect(try await message("exchangeSilent", ["anything": 1]) == nil)
    }

    @Test("Another word than `refuse` and `ignore` is an error at its place")
    func otherWord() throws {
        let error = #expect(throws: Diagnostics.self) {
            try TestEngine(
                [.provider(StrictProvider.self)],
                policy: TestEngine.policy(providers: "strict: {unknown_fields: ingore}"),
                secrets: SecretSource { _ in nil })
        }
        let text = try #require(error).description
        #expect(text.contains("unknown_fields") && text.contains("did you mean `ignore`?"), "\(text)")
    }

    @Test("Without that wish unknown fields are ignored, so that newer clients work")
    func lenient() async throws {
        #expect(try await message("listLenient", ["filterTxt": "x", "parts": [["sise": 1]]]) == nil)
    }
}
