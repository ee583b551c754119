import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import DoorLock
import Foundation
import Logging
import Testing

/// The provider in an engine, under the example policy.
@Suite("The provider door_lock")
struct DoorLockTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let app = "projects/example-project/apps/1:1234567890:web:321abc456def7890"

    private let engine: Engine

    init() throws {
        let policy = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../policies/example.yaml").standardizedFileURL
        engine = try Engine(
            registry: Registry([.provider(DoorLockProvider.self)]),
            policies: .load([PolicyFile(name: "example.yaml", text: String(contentsOf: policy, encoding: .utf8))]),
            keys: .pooled(),
            host: PluginHost(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in Self.key },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test("A client that holds its key gets a token")
    func genuine() async throws {
        let reply = try await exchange(try await challenge(), client: "client-1", key: Self.key).get()
        #expect(reply["token"]?.string?.split(separator: ".").count == 3)
    }

    @Test("An unknown client and a wrong key are refused, each by its reason")
    func refusals() async throws {
        let unknown = await exchange(try await challenge(), client: "client-2", key: Self.key)
        #expect(reason(unknown) == DoorLockProvider.unknownClient)
        let wrong = await exchange(try await challenge(), client: "client-1", key: Array(Self.key.dropLast()))
        #expect(reason(wrong) == DoorLockProvider.wrongCode)
    }

    @Test("A challenge gives one token")
    func replay() async throws {
        let challenge = try await challenge()
        _ = try await exchange(challenge, client: "client-1", key: Self.key).get()
        let second = await exchange(challenge, client: "client-1", key: Self.key)
        #expect(throws: CallFailure.self) { try second.get() }
    }

    private func challenge() async throws -> [UInt8] {
        let reply = await engine.handle(Call("generateDoorLockChallenge", resource: Self.app))
        let text = try #require(try reply.result.get()["challenge"]?.string)
        return try #require(Base64.decode(text))
    }

    private func exchange(_ challenge: [UInt8], client: String, key: [UInt8]) async -> Result<JSON, CallFailure> {
        let body: JSON = [
            "client": .string(client), "challenge": .string(Base64.encode(challenge)),
            "code": .string(Base64.encode(HMACSHA256(key: key).authenticate(challenge[...]))),
        ]
        return await engine.handle(Call("exchangeDoorLockCode", resource: Self.app, body: body)).result
    }

    private func reason(_ result: Result<JSON, CallFailure>) -> Reason? {
        if case .failure(let failure) = result { failure.reason } else { nil }
    }
}
