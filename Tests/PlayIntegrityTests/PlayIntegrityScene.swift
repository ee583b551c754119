import AssayAndroid
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPlayIntegrity
import AssayPolicy
import AssayTesting
import Testing

/// An app whose tokens a simulated Google Play makes, and a server that accepts them.
struct PlayScene {
    static let app = "projects/1234567890/apps/1:1234567890:android:321abc456def7890"
    static let administrator = "administrator-token-0123456789"
    static let backend = "backend-token-0123456789"
    static let stranger = "stranger-token-0123456789"
    static let exchange = "exchangePlayIntegrityToken"

    /// How the tokens are opened.
    enum Opening: CaseIterable {
        case here
        case google
        case both

        var section: String {
            let keys = "response_keys: [{decryption_key: \"env:KEYS\", verification_key: \"env:KEYS\"}]"
            let account = "service_account: env:ACCOUNT"
            return switch self {
            case .here: keys
            case .google: account
            case .both: "\(keys)\n\(account)"
            }
        }
    }

    let play: SimulatedPlayService
    let engine: TestEngine
    /// The clock of the simulated Google Play; the engine has its own.
    let playClock: ManualClock

    /// - Parameters:
    ///   - section: further keys of the section.
    ///   - http: what is called instead of the simulated Google Play.
    ///   - stage: the project's.
    init(
        _ section: String = "", opening: Opening = .both, http: (any OutboundHTTP)? = nil,
        stage: String = "production", secrets: [String: String] = [:]
    ) throws {
        playClock = ManualClock()
        let play = try SimulatedPlayService(clock: playClock.hostClock)
        self.play = play
        let known = ["KEYS": play.keyFile, "ACCOUNT": play.accountFile].merging(secrets) { $1 }
        engine = try TestEngine(
            [.provider(PlayIntegrityProvider.self)], policy: Self.policy(opening.section, section, stage),
            secrets: SecretSource { reference in
                known.first { reference.place == .environment($0.key) }.map { Array($0.value.utf8) }
            }, http: http ?? play)
    }

    static func policy(_ opening: String, _ section: String = "", _ stage: String = "production") -> String {
        let lines = (opening + "\n" + section).split(separator: "\n").map { "            \($0)" }
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        return """
            tokens: {algorithm: ES256}
            callers:
              administrator: {sha256: \(hash(administrator)), permissions: [admin]}
              backend: {sha256: \(hash(backend)), permissions: [playIntegrity.readBits, playIntegrity.updateBits]}
              stranger: {sha256: \(hash(stranger)), permissions: [appCheckTokens.verify]}
            projects:
              - number: 1234567890
                id: example-project
                stage: \(stage)
                apps:
                  - id: 1:1234567890:android:321abc456def7890
                    android:
                      package: com.example.app
                      signing_digests: ["\(Hex.encode(SimulatedAndroidState().signingDigest))"]
                    providers:
                      play_integrity:
            \(lines.joined(separator: "\n"))
            """
    }

    func advance(by duration: Duration) {
        engine.clock.advance(by: duration)
        playClock.advance(by: duration)
    }

    /// Whatever a call waits for comes at once.
    func withoutWaiting(_ call: @escaping @Sendable () async -> Reply) async -> Reply {
        await withTaskGroup(of: Reply?.self) { group in
            group.addTask { await call() }
            group.addTask { await passTime() }
            defer { group.cancelAll() }
            while let reply = await group.next() { if let reply { return reply } }
            preconditionFailure("no answer")
        }
    }

    /// Lets time pass until the task is cancelled.
    func passTime() async -> Reply? {
        // One sleeps for the deadline of the call as a whole, which must not come; the simulated server has a clock of its own.
        while !Task.isCancelled {
            engine.clock.advance(by: .milliseconds(100))
            playClock.advance(by: .milliseconds(100))
            for _ in 0..<20 { await Task.yield() }
        }
        return nil
    }

    /// The text of a new challenge.
    func challenge() async throws -> String {
        let reply = await engine.call("generatePlayIntegrityChallenge", Self.app)
        return try #require(try reply.result.get()["challenge"]?.string)
    }

    /// What Google Play says of a genuine app, for a new challenge.
    func verdict(
        isStandard: Bool = false, _ change: (inout SimulatedPlayVerdict) -> Void = { _ in }
    ) async throws -> SimulatedPlayVerdict {
        let challenge = try await challenge()
        var verdict = SimulatedPlayVerdict(nonce: isStandard ? nil : challenge, made: engine.clock.now)
        if isStandard { verdict.requestHash = challenge }
        change(&verdict)
        return verdict
    }

    func send(_ token: String, from peer: String = "192.0.2.1") async -> Reply {
        await engine.call(Self.exchange, Self.app, ["playIntegrityToken": .string(token)], peer: peer)
    }

    /// Exchanges a classic token.
    func classic(_ change: (inout SimulatedPlayVerdict) -> Void = { _ in }) async throws -> Reply {
        await send(try play.classicToken(try await verdict(change)))
    }

    /// Exchanges a standard token.
    func standard(_ change: (inout SimulatedPlayVerdict) -> Void = { _ in }) async throws -> Reply {
        await send(play.standardToken(try await verdict(isStandard: true, change)))
    }
}

extension Reply {
    var isAccepted: Bool { (try? result.get()) != nil }

    var failure: CallFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}
