import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Logging
import Testing

@Suite("Calls that demand a permission")
struct CallerTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    private static let otherApp = "projects/other-project/apps/1:2:ios:ab"

    private let sink = RecordingSink()
    private let store: FailingStore
    private let engine: Engine

    init() throws {
        store = FailingStore(MemoryStore(clock: .system))
        engine = try Self.engine(Self.callers, sink: sink, store: store)
    }

    private static let callers = """
        callers:
          root:
            sha256: \(Hex.encode(SHA256.hash(Array("root-token-0123456789".utf8))))
            permissions: [admin]
          writer:
            token: env:WRITER
            permissions: [notes.write]
            projects: [example-project]
          absent:
            token: env:ABSENT
            optional: true
            permissions: [admin]
        """

    private static func engine(
        _ callers: String, sink: RecordingSink = RecordingSink(), store: any StateStore = MemoryStore(clock: .system)
    ) throws -> Engine {
        let text = """
            \(callers)
            projects:
              - number: 1234567890
                id: example-project
                apps: [{id: "1:1234567890:ios:321abc456def7890", providers: {notes: {}}}]
              - number: 2
                id: other-project
                apps: [{id: "1:2:ios:ab", providers: {notes: {}}}]
            """
        let secrets = SecretSource { (reference) throws(SecretError) in
            switch reference.place {
            case .environment("WRITER"): Array("writer-token-0123456789".utf8)
            case .environment("SHORT"): Array("short".utf8)
            case .environment("CUT"): Array(made.dropLast().utf8)
            case .environment("MADE"): Array(made.utf8)
            default: nil
            }
        }
        return try Engine(
            registry: Registry([.provider(NotesProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(),
            host: PluginHost(store: store, secrets: secrets, logger: TestService.silent), sink: sink)
    }

    private func call(
        _ method: String, _ token: String?, _ resource: String = app, _ body: JSON = ["noteId": "a"]
    ) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call(method, resource: resource, body: body, credentials: token.flatMap { BearerToken($0) })
        ).result
    }

    private func status(_ result: Result<JSON, CallFailure>) -> StatusCode? {
        if case .failure(let failure) = result { failure.status } else { nil }
    }

    @Test("a caller with the permission is answered, and is on record")
    func answered() async throws {
        let body: JSON = ["noteId": "a", "note": ["text": "hello"]]
        #expect(try await call("putNote", "writer-token-0123456789", Self.app, body).get() == [:])
        let reply = try await call("getNote", "root-token-0123456789").get()
        #expect(reply == ["text": "hello", "caller": "root"])
        #expect(sink.records.map(\.caller) == ["writer", "root"])
        #expect(sink.records.map(\.provider) == ["notes", "notes"])
        for record in sink.records {
            guard case .answered = record.outcome else {
                Issue.record("\(record.outcome)")
                continue
            }
        }
    }

    @Test(
        "whoever shows nothing that is known is not told what there is",
        arguments: [nil, "unknown-token-0123456789", "writer-token-012345678", "ROOT-token-0123456789"],
        [app, "projects/nobody/apps/1:1:ios:ab", "nonsense"])
    func unauthenticated(token: String?, resource: String) async {
        #expect(status(await call("getNote", token, resource)) == .unauthenticated)
        #expect(status(await call("putNote", token, resource)) == .unauthenticated)
    }

    @Test("a caller without the permission is refused, whatever the resource")
    func withoutPermission() async {
        for resource in [Self.app, Self.otherApp, "projects/nobody/apps/1:1:ios:ab", "nonsense"] {
            #expect(status(await call("getNote", "writer-token-0123456789", resource)) == .permissionDenied)
        }
    }

    @Test(
        "The record says which permission a caller lacks, or in which project it may not act; the caller learns neither"
    )
    func denied() async throws {
        for (method, resource, detail, name) in [
            ("getNote", Self.app, "the caller writer lacks the permission admin", Self.canonical),
            (
                "putNote", Self.otherApp, "the caller writer may not act in the project 2 (other-project)",
                Self.otherCanonical
            ),
            (
                "putNote", "projects/nobody/apps/1:1:ios:ab",
                "the caller writer may act in some projects only, and the request names no known one",
                "projects/nobody/apps/1:1:ios:ab"
            ),
        ] {
            guard case .failure(let failure) = await call(method, "writer-token-0123456789", resource) else {
                Issue.record("it is let in")
                continue
            }
            #expect(failure.status == .permissionDenied)
            #expect(failure.message == "The caller does not have permission.")
            let record = try #require(sink.records.last)
            #expect(record.detail == detail)
            #expect(record.resource == name)
            #expect(record.caller == "writer")
            let permissions = record.facts.filter { $0.name == .permission }.map(\.value)
            #expect(permissions == (method == "getNote" ? [.text("admin")] : []))
        }
    }

    private static let canonical = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
    private static let otherCanonical = "projects/2/apps/1:2:ios:ab"

    @Test("a caller of one project learns nothing of others")
    func otherProjects() async {
        for resource in [Self.otherApp, "projects/nobody/apps/1:1:ios:ab"] {
            #expect(status(await call("putNote", "writer-token-0123456789", resource)) == .permissionDenied)
        }
        #expect(status(await call("getNote", "root-token-0123456789", "projects/nobody/apps/1:1:ios:ab")) == .notFound)
    }

    @Test("a method's own failure is the answer; a store that does not answer makes it unavailable")
    func failures() async {
        #expect(status(await call("getNote", "root-token-0123456789")) == .notFound)
        #expect(status(await call("getNote", "root-token-0123456789", Self.app, [:])) == .invalidArgument)
        let bad: JSON = ["noteId": "a", "note": ["text": "bad"]]
        #expect(status(await call("putNote", "root-token-0123456789", Self.app, bad)) == .invalidArgument)
        guard case .refused(NotesProvider.refusal)? = sink.records.last?.outcome else {
            Issue.record("the reason is not on record")
            return
        }
        store.isFailing = true
        #expect(status(await call("getNote", "root-token-0123456789")) == .unavailable)
    }

    @Test(
        "a caller that cannot be is refused at its place",
        arguments: [
            ("root: {permissions: [admin]}", "one of `sha256`, `token`, `tokens` and `jwt`"),
            ("root: {sha256: ab, permissions: [admin]}", "64 hexadecimal digits"),
            ("root: {token: env:NONE, permissions: [admin]}", "env:NONE is not set"),
            ("root: {token: env:SHORT, permissions: [admin]}", "16 characters or more"),
            ("root: {token: a-raw-secret, permissions: [admin]}", "refer to it as env:NAME"),
            ("root: {token: env:WRITER, permissions: [notes.wriet]}", "unknown permission `notes.wriet`"),
            ("root: {token: env:WRITER, permissions: []}", "may do nothing"),
            ("root: {token: env:WRITER, permissions: [admin], projects: [nobody]}", "unknown project `nobody`"),
            (
                "root: {token: env:WRITER, permissions: [admin], projects: [example-projcet]}",
                "did you mean `example-project`?"
            ),
            (
                "root: {token: env:WRITER, permissions: [admin], projects: []}",
                "without a project the caller may do nothing"
            ),
            ("root: {token: env:WRITER, permissions: [notes.wriet]}", "did you mean `notes.write`?"),
            ("root: {token: env:CUT, permissions: [admin]}", "its checksum is wrong"),
            ("root: {sha256: \(hash("password")), permissions: [admin]}", "a word that attackers try first"),
            ("root: {sha256: \(hash("changeme\n")), permissions: [admin]}", "a word that attackers try first"),
            ("root: {sha256: \(hash("")), permissions: [admin]}", "the hash of an empty text"),
            ("root: {token: env:WRITER, permissions: [admin], project: [x]}", "unknown key `project`"),
            ("root/x: {token: env:WRITER, permissions: [admin]}", "a caller's name is"),
            (
                "a: {token: env:WRITER, permissions: [admin]}\n  b: {token: env:WRITER, permissions: [admin]}",
                "another caller has the same bearer token"
            ),
        ])
    func refused(section: String, message: String) throws {
        let error = #expect(throws: Diagnostics.self) { try Self.engine("callers:\n  \(section)") }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("test.yaml:") == true)
    }

    private static let made = CallerToken.make()

    private static func hash(_ text: String) -> String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    @Test("a hash is good for its token only where that is long enough to be none that is guessed")
    func short() async throws {
        for (token, isKnown) in [("fifteen-charact", false), ("sixteen-characte", true)] {
            let engine = try Self.engine("callers: {root: {sha256: \(Self.hash(token)), permissions: [admin]}}")
            let call = Call(
                "getNote", resource: Self.app, body: ["noteId": "a"], credentials: BearerToken(token))
            #expect(status(await engine.handle(call).result) == (isKnown ? .notFound : .unauthenticated))
        }
    }

    @Test("a token of `assay caller-token` is taken whole, by its hash and by itself, and not where it was changed")
    func made() async throws {
        #expect(Self.made.utf8.count == 81)
        #expect(Self.made != CallerToken.make())
        #expect(CallerToken.hash(of: Self.made) == Self.hash(Self.made))
        let changed = Self.made.dropLast() + (Self.made.hasSuffix("0") ? "1" : "0")
        for caller in ["sha256: \(CallerToken.hash(of: Self.made))", "token: env:MADE"] {
            let engine = try Self.engine("callers: {root: {\(caller), permissions: [admin]}}")
            for (token, isKnown) in [
                (Self.made, true), (String(changed), false), (String(Self.made.dropLast()), false),
            ] {
                let call = Call(
                    "getNote", resource: Self.app, body: ["noteId": "a"], credentials: BearerToken(token))
                #expect(status(await engine.handle(call).result) == (isKnown ? .notFound : .unauthenticated))
            }
        }
        // Not even where a policy has the hash of what was changed.
        let engine = try Self.engine("callers: {root: {sha256: \(Self.hash(String(changed))), permissions: [admin]}}")
        let call = Call(
            "getNote", resource: Self.app, body: ["noteId": "a"],
            credentials: BearerToken(String(changed)))
        #expect(status(await engine.handle(call).result) == .unauthenticated)
    }

    @Test("a bearer token does not show itself")
    func redacted() throws {
        let token = try #require(BearerToken("secret-0123456789"))
        #expect(!"\(token)".contains("secret"))
        #expect(!String(reflecting: token).contains("secret"))
        #expect(BearerToken("") == nil)
        #expect(BearerToken("a b") == nil)
        #expect(BearerToken(String(repeating: "a", count: BearerToken.byteLimit + 1)) == nil)
    }
}
