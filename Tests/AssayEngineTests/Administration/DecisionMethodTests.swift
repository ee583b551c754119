import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Synchronization
import Testing

@Suite("Records over the API")
struct DecisionMethodTests {
    private static let reader = "reader-token-0123456789"
    private static let bound = "bound-token-0123456789"

    /// An archive that notes what it is asked, and gives one record.
    private final class Archive: DecisionArchive {
        let asked = Mutex<[DecisionQuery]>([])
        let error: DecisionArchiveError?

        init(_ error: DecisionArchiveError? = nil) {
            self.error = error
        }

        static let record: JSON = [
            "time": "2026-11-21T12:00:00.000Z", "decision": "01M", "method": "exchangeDebugToken",
            "resource": "projects/1234567890/apps/1:1234567890:ios:ab", "outcome": "refused",
            "reason": "debug_token_unknown",
            "facts": ["key_age": "60s", "count": 7, "good": true],
            "token_use": ["category": "verified", "admitted": true],
            "would_refuse": ["a", "b"], "seq": 5, "chain": "x",
        ]

        func decision(
            _ id: DecisionID, of projects: [ExactText]
        ) async throws(DecisionArchiveError) -> ArchivedDecision? {
            if let error { throw error }
            guard projects.contains("1234567890"), id.text.isExactly("01M") else { return nil }
            return ArchivedDecision(record: Self.record)
        }

        func decisions(_ query: DecisionQuery) async throws(DecisionArchiveError) -> DecisionPage {
            if let error { throw error }
            asked.withLock { $0.append(query) }
            return DecisionPage(decisions: [ArchivedDecision(record: Self.record)], nextPageToken: "next")
        }
    }

    private static func engine(_ archive: (any DecisionArchive)?) throws -> Engine {
        let clock = ManualClock()
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        let text = """
            tokens: {algorithm: ES256}
            callers:
              root: {sha256: \(hash(AdminService.admin)), permissions: [admin]}
              reader: {sha256: \(hash(reader)), permissions: [decisions.read]}
              bound: {sha256: \(hash(bound)), permissions: [decisions.read], projects: [other-project]}
              verifier: {sha256: \(hash(AdminService.verifier)), permissions: [appCheckTokens.verify]}
            projects:
              - {number: 1234567890, id: example-project}
              - {number: 2, id: other-project}
            """
        return try Engine(
            registry: Registry([.provider(VouchProvider.self)], administration: .api),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]),
            keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent),
            sink: RecordingSink(), options: Engine.Options(archive: archive))
    }

    private func call(
        _ engine: Engine, _ method: String, _ body: JSON, _ resource: String = "projects/example-project",
        as token: String? = reader
    ) async -> Reply {
        await engine.handle(
            Call(
                method, version: .v1, resource: resource, body: body, credentials: token.flatMap { BearerToken($0) }))
    }

    @Test("Only callers with the permission read records, and only of their projects")
    func permission() async throws {
        let engine = try Self.engine(Archive())
        for (method, body) in [("getDecision", ["decisionId": "01M"]), ("listDecisions", [:])] as [(String, JSON)] {
            #expect(await call(engine, method, body).status == nil)
            #expect(await call(engine, method, body, as: AdminService.admin).status == nil)
            #expect(await call(engine, method, body, as: AdminService.verifier).status == .permissionDenied)
            #expect(await call(engine, method, body, as: nil).status == .unauthenticated)
            #expect(await call(engine, method, body, as: Self.bound).status == .permissionDenied)
            #expect(await call(engine, method, body, "projects/unknown").status == .notFound)
        }
        #expect(await call(engine, "listDecisions", [:], "projects/2", as: Self.bound).status == nil)
    }

    @Test("A record is a message with its name, its facts as texts, and no place in a chain")
    func message() async throws {
        let engine = try Self.engine(Archive())
        let message = try await call(engine, "getDecision", ["decisionId": "01M"]).result.get()
        #expect(
            message
                == [
                    "name": "projects/1234567890/decisions/01M", "decisionId": "01M",
                    "time": "2026-11-21T12:00:00.000Z", "method": "exchangeDebugToken",
                    "resource": "projects/1234567890/apps/1:1234567890:ios:ab", "outcome": "refused",
                    "reason": "debug_token_unknown", "wouldRefuse": ["a", "b"], "tokenCategory": "verified",
                    "facts": [
                        ["name": "key_age", "value": "60s"], ["name": "count", "value": "7"],
                        ["name": "good", "value": "true"],
                    ],
                ])
        #expect(await call(engine, "getDecision", ["decisionId": "other"]).status == .notFound)
        #expect(await call(engine, "getDecision", ["decisionId": "01M"], "projects/2").status == .notFound)
        #expect(
            await call(engine, "getDecision", ["decisionId": .string(String(repeating: "x", count: 1000))]).status
                == .notFound)
    }

    @Test("A list asks for the project's records by all filters, and no page is large")
    func list() async throws {
        let archive = Archive()
        let engine = try Self.engine(archive)
        let reply = try await call(
            engine, "listDecisions",
            [
                "app": "a", "reason": "r", "since": "2026-11-21T12:00:00Z", "until": "2026-11-22T12:00:00Z",
                "keyId": "k",
                "caller": "c", "method": "m", "outcome": "refused", "rule": "u", "pageSize": 7, "pageToken": "p",
            ]
        ).result.get()
        #expect(reply["nextPageToken"] == "next")
        #expect(reply["decisions"]?.array?.count == 1)
        var expected = DecisionQuery(limit: 7)
        expected.projects = ["1234567890", "example-project"]
        (expected.app, expected.reason, expected.keyID, expected.caller) = ("a", "r", "k", "c")
        (expected.method, expected.outcome, expected.rule, expected.pageToken) = ("m", "refused", "u", "p")
        expected.since = Instant(rfc3339: "2026-11-21T12:00:00Z")
        expected.until = Instant(rfc3339: "2026-11-22T12:00:00Z")
        #expect(archive.asked.withLock { $0 } == [expected])
        _ = await call(engine, "listDecisions", ["pageSize": 100_000])
        #expect(archive.asked.withLock { $0.last?.limit } == 100)
        for wrong in [["pageSize": -1], ["since": "today"], ["app": .string(String(repeating: "x", count: 600))]]
            as [JSON]
        {
            #expect(await call(engine, "listDecisions", wrong).status == .invalidArgument)
        }
    }

    @Test(
        "A query that can find nothing, or everything by mistake, is refused with the field and what was meant",
        arguments: [
            (["reasson": "x"], "unknown field 'reasson'; did you mean `reason`?"),
            (["page_sise": 1], "unknown field 'page_sise'; did you mean `page_size`?"),
            (["KeyID": "x"], "unknown field 'KeyID'; did you mean `keyId`?"),
            (["outcome": "refusd"], "the field 'outcome' has the unknown value 'refusd'; did you mean `refused`?"),
            (["outcome": "REFUSED"], "the field 'outcome' has the unknown value 'REFUSED'; did you mean `refused`?"),
            (
                ["outcome": "summed\u{1B}[2J"],
                """
                the field 'outcome' has the unknown value 'summed?[2J'; known here: `answered`, `challenged`, `error`, `issued`, \
                `refused`, `rejected`
                """
            ),
            (
                ["reason": "challenge_expird"],
                "the field 'reason' has the unknown value 'challenge_expird'; did you mean `challenge_expired`?"
            ),
            (
                ["reason": "NOT_FOND"],
                "the field 'reason' has the unknown value 'NOT_FOND'; did you mean `NOT_FOUND`?"
            ),
            (
                ["method": "listDecission"],
                "the field 'method' has the unknown value 'listDecission'; did you mean `listDecisions`?"
            ),
            (["since": 5], "the field 'since' must be a string"),
            (["since": "yesterday"], "the field 'since' must be a time such as 2026-12-31T23:59:59Z"),
            (["pageSize": "many"], "the field 'pageSize' must be a whole number"),
            (["app": ["a", "b"]], "the field 'app' must be a string"),
        ] as [(JSON, String)])
    func wrongQueries(_ body: JSON, _ message: String) async throws {
        let archive = Archive()
        let engine = try Self.engine(archive)
        let reply = await call(engine, "listDecisions", body)
        guard case .failure(let failure) = reply.result else {
            Issue.record("the query was answered")
            return
        }
        #expect(failure.status == .invalidArgument)
        #expect(failure.message == message)
        #expect(archive.asked.withLock { $0.isEmpty })
    }

    @Test("Known fields in either spelling, and reasons of plugins that are gone, are no mistakes")
    func rightQueries() async throws {
        let archive = Archive()
        let engine = try Self.engine(archive)
        for body in [
            ["page_size": 1, "key_id": "x"], ["reason": "of_another_plugin"], ["reason": "NOT_FOUND"],
            ["reason": "challenge_expired", "method": "exchangeSomethingElse"], ["since": .null],
        ] as [JSON] {
            #expect(await call(engine, "listDecisions", body).status == nil, "\(body)")
        }
        #expect(archive.asked.withLock { $0.count } == 5)
    }

    @Test("Unknown fields are refused only for callers with the permission, and the record names the project")
    func unknownFieldOnRecord() async throws {
        let archive = Archive()
        let engine = try Self.engine(archive)
        #expect(await call(engine, "listDecisions", ["x": 1], as: nil).status == .unauthenticated)
        #expect(await call(engine, "listDecisions", ["x": 1], as: AdminService.verifier).status == .permissionDenied)
        #expect(await call(engine, "getDecision", ["decisionId": "01M", "x": 1]).status == .invalidArgument)
        #expect(await call(engine, "getDecision", ["decision_id": "01M"]).status == nil)
    }

    @Test("What is unknown is said, the project or the decision")
    func notFound() async throws {
        let engine = try Self.engine(Archive())
        for (method, body, resource, message) in [
            ("getDecision", ["decisionId": "x"], "projects/2", "The records of the project have no such decision."),
            (
                "getDecision", ["decisionId": "x"], "projects/3",
                "The policies of this server have no such project, app or OAuth client."
            ),
        ] as [(String, JSON, String, String)] {
            guard case .failure(let failure) = await call(engine, method, body, resource).result else {
                Issue.record("\(resource) was found")
                continue
            }
            #expect(failure.status == .notFound)
            #expect(failure.message == message)
        }
    }

    @Test("Without an archive the methods are not implemented, and an archive that fails is no fault")
    func failures() async throws {
        for (archive, status) in [
            (nil, .failedPrecondition), (Archive(DecisionArchiveError(.unavailable, "slow")), .unavailable),
            (Archive(DecisionArchiveError(.invalidQuery, "the page token is wrong")), .invalidArgument),
        ] as [(Archive?, StatusCode)] {
            let engine = try Self.engine(archive)
            #expect(await call(engine, "getDecision", ["decisionId": "01M"]).status == status)
            #expect(await call(engine, "listDecisions", [:]).status == status)
        }
    }
}
