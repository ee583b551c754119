import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Logging

/// Somebody who signs JWTs.
struct TestIssuer {
    static let name = "https://login.example.com/"
    static let now = Instant(seconds: 1_795_000_000)

    let key: PrivateKey
    let keyID: String

    init(_ keyID: String = "one", _ kind: KeyKind = .ec(.p256)) throws {
        key = try .generate(kind)
        self.keyID = keyID
    }

    var jwk: JWK { JWK(signing: key.publicKey, keyID: keyID) }

    func document(_ others: [TestIssuer] = []) -> [UInt8] { JWKSet([jwk] + others.map(\.jwk)).json.encoded }

    /// A token with claims that are all right, but for those that a test sets (null takes one away).
    func token(_ claims: JSON = [:], type: String = "JWT", at now: Instant = Self.now) throws -> String {
        var all: [(String, JSON)] = [
            ("iss", .string(Self.name)), ("sub", "somebody"), ("aud", "https://assay.example.com"),
            ("iat", .integer(now.seconds)), ("exp", .integer(now.seconds + 300)),
        ]
        for member in claims.members ?? [] {
            all.removeAll { $0.0 == member.name }
            if member.value != .null { all.append((member.name, member.value)) }
        }
        let algorithm: JWSAlgorithm = if case .ec = key.kind { .es256 } else { .rs256 }
        let payload = JSON.object(all.map { JSONMember($0.0, $0.1) })
        return try JWSSigner(key: key, keyID: keyID, algorithm: algorithm).sign(payload: payload.encoded, type: type)
    }

    static func host(_ http: any OutboundHTTP = NoOutboundHTTP(), clock: ManualClock = ManualClock(now)) -> PluginHost {
        PluginHost(
            clock: clock.hostClock, store: FailingStore(NoStore()), http: http,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }
}

/// A store that is not used.
struct NoStore: StateStore {
    struct Unused: Error {}

    func commit(_ changes: [StateChange]) async throws -> Int? { throw Unused() }
    func get(_ key: StateKey) async throws -> [UInt8]? { throw Unused() }
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws { throw Unused() }
    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { throw Unused() }
}
