import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayTesting
import Testing

/// An engine whose first app may have three registered debug tokens beside one of the policy, and whose other app has as
/// many as are usual.
struct DebugTokenService {
    static let listedOnly = "{debug: {tokens: [\(listed)]}}"
    static let managed = "{debug: {token_ttl: 2h, managed: {limit: 3}, tokens: [\(listed)]}}"
    private static let listed = "{name: of the file, sha256: \(DebugServer.debugHash)}"
    private static let unlimited = "{debug: {managed: {}}}"

    /// Where the first app's registered tokens are.
    static let space = "debug/projects/1234567890/apps/\(DebugServer.appID)/managed"

    private let service: DebugServer
    /// The state store, which can be read when the engine finds it failing.
    let memory: any StateStore

    var clock: ManualClock { service.clock }
    var store: FailingStore { service.store }

    init() throws {
        let clock = ManualClock()
        memory = MemoryStore(clock: clock.hostClock)
        service = try DebugServer(
            providers: Self.managed, store: memory, otherProviders: Self.unlimited, clock: clock)
    }

    /// The text of a debug token.
    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "abcdef01-2345-4678-9abc-\(String(repeating: "0", count: 12 - digits.count))\(digits)"
    }

    func call(
        _ method: String, _ body: JSON = [:], in app: String = DebugServer.app, as caller: String? = DebugServer.admin
    ) async -> Reply {
        await service.call(method, app, body, as: caller, version: .v1)
    }

    func create(
        _ number: Int, _ name: String = "a phone", expires: JSON? = nil, in app: String = DebugServer.app
    ) async -> Reply {
        var members = [
            JSONMember("displayName", .string(name)), JSONMember("token", .string(Self.uuid(number).uppercased())),
        ]
        if let expires { members.append(JSONMember("expireTime", expires)) }
        return await call("createDebugToken", ["debugToken": .object(members)], in: app)
    }

    func get(_ id: String) async -> Reply {
        await call("getDebugToken", ["debugTokenId": .string(id)])
    }

    func list(_ body: JSON = [:], _ app: String = DebugServer.app) async -> Reply {
        await call("listDebugTokens", body, in: app)
    }

    func update(_ id: String, _ name: String, etag: String? = nil) async -> Reply {
        var members = [JSONMember("displayName", .string(name))]
        if let etag { members.append(JSONMember("etag", .string(etag))) }
        return await call(
            "updateDebugToken",
            ["debugTokenId": .string(id), "updateMask": "displayName", "debugToken": .object(members)])
    }

    func delete(_ id: String, etag: String? = nil) async -> Reply {
        var members = [JSONMember("debugTokenId", .string(id))]
        if let etag { members.append(JSONMember("etag", .string(etag))) }
        return await call("deleteDebugToken", .object(members))
    }

    func exchange(_ number: Int, _ resource: String = DebugServer.app, upperCase: Bool = false) async -> Reply {
        let text = Self.uuid(number)
        return await exchange(upperCase ? text.uppercased() : text, resource)
    }

    func exchange(_ text: String, _ resource: String = DebugServer.app) async -> Reply {
        await call("exchangeDebugToken", ["debugToken": .string(text)], in: resource, as: nil)
    }

    /// The identifier at the end of a token's name.
    func id(of token: JSON) throws -> String {
        String(try #require(token["name"]?.string?.split(separator: "/").last))
    }

    func record(_ reply: Reply) -> DecisionRecord? { service.sink.record(of: reply.decision) }

    /// Gives the first app other providers.
    func replaceFirst(_ providers: String) throws {
        try service.engine.replacePolicies(
            DebugServer.policies(providers: providers, otherProviders: Self.unlimited))
    }
}

extension Reply {
    /// What a client is told that went wrong.
    var message: String? {
        if case .failure(let failure) = result { failure.message } else { nil }
    }
}
