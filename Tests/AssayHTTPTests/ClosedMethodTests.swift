import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@Suite("Queries of methods that refuse unknown fields", .timeLimit(.minutes(20)))
struct ClosedMethodTests {
    private static let shape: MessageShape = [
        .optional("since", .timestamp), .optional("pageSize", .integer(0...100)),
        .optional("names", .list(.text, atMost: 9)), .optional("fields", .text),
    ]

    private static func methods(refusing: Bool) -> [MethodDescriptor] {
        let shape = MessageShape(shape.fields, refusesUnknownFields: refusing)
        return [
            MethodDescriptor(
                name: "listParts", kind: .call(.admin), resources: [.project],
                path: MethodPath(.get, "/parts", query: ["since", "pageSize", "names"])
            ).with(request: shape, reply: nil),
            MethodDescriptor(
                name: "getPart", kind: .call(.admin), resources: [.project], path: MethodPath(.get, "/parts/{partId}")
            ).with(request: MessageShape([], refusesUnknownFields: refusing), reply: nil),
        ]
    }

    private func call(_ target: String, refusing: Bool = true, status: Int = 200) async throws -> JSON? {
        let handler = FakeHandler(methods: Self.methods(refusing: refusing))
        let reply = try await TestGateway.answer(
            to: "GET /v1/projects/1/\(target) HTTP/1.1\r\nHost: a\r\n\r\n", handler: handler)
        #expect(reply.status == status)
        return handler.calls.first?.body
    }

    @Test("An unknown parameter reaches the method by its name, without its value, which may be a secret")
    func unknown() async throws {
        #expect(try await call("parts?sinze=2026&pageSize=3") == ["pageSize": "3", "sinze": ""])
        #expect(try await call("parts/p?token=secret&token=x") == ["partId": "p", "token": ""])
        #expect(try await call("parts?Since=x") == ["Since": ""])
        #expect(try await call("parts?=x") == ["": ""])
        // One that has the name of the path's field gives the message two of them.
        #expect(try await call("parts/p?partId=q")?.members?.count == 2)
        #expect(try await call("parts?sinze=2026", refusing: false) == [:])
        #expect(try await call("parts/p?token=secret", refusing: false) == ["partId": "p"])
    }

    @Test(
        "Google's standard parameters are ignored, in the spelling that Google documents",
        arguments: [
            "access_token", "alt", "callback", "fields", "key", "oauth_token", "prettyPrint", "quotaUser", "uploadType",
            "upload_protocol", "$.xgafv", "$fields", "$",
        ])
    func standard(_ name: String) async throws {
        #expect(try await call("parts?\(name)=1&page_size=2") == ["pageSize": "2"])
        #expect(try await call("parts/p?\(name)=1&\(name)=2") == ["partId": "p"])
    }

    @Test("Other spellings of them are unknown", arguments: ["Alt", "prettyprint", "upload-type", "keys", "x$"])
    func others(_ name: String) async throws {
        #expect(try await call("parts?\(name)=1") == .object([JSONMember(name, "")]))
    }

    @Test("A repeated parameter is a list only where the field is one; elsewhere every reader refuses the message")
    func repeated() async throws {
        #expect(try await call("parts?names=a&names=b") == ["names": ["a", "b"]])
        for query in ["since=1&since=2", "pageSize=1&page_size=2", "since=1&since=1"] {
            for refusing in [true, false] {
                let body = try #require(try await call("parts?\(query)", refusing: refusing))
                let fields = try RequestFields(body)
                let error = #expect(throws: InvalidRequest.self) {
                    try fields.optionalString(query.contains("since") ? "since" : "pageSize")
                }
                #expect(error?.message.contains("is present more than once") == true)
            }
        }
    }

    @Test("A query that cannot be read is refused also where no parameter is expected")
    func malformed() async throws {
        #expect(try await call("parts/p?%zz", status: 400) == nil)
        #expect(try await call("parts/p?%zz", refusing: false) == ["partId": "p"])
    }
}
