import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import Foundation
import Testing
@testable import AssayServices

@Suite("Keys")
struct KeyStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "assay-keys-\(UUID().uuidString)")

    private var file: String { folder.appendingPathComponent("keys.json").path }

    private func keySet(_ tokens: String = "") async throws -> [JSON] {
        let service = try TestService(keys: .directory(folder.path), tokens: tokens)
        return try await service.call("jwks", "").result.get()["keys"]?.array ?? []
    }

    @Test("Keys are made at the first start, for their owner alone, and survive restarts")
    func survive() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await keySet()
        #expect(first.count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let folderAttributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect((folderAttributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        #expect(try await keySet() == first)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == [".lock", "keys.json"], "no temporary file is left behind")
    }

    @Test("A key is published in the form that Admin SDKs read")
    func published() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try #require(await keySet().first)
        #expect(Set(key.members?.map(\.name) ?? []) == ["kty", "use", "alg", "kid", "n", "e"])
        #expect(key["kty"] == "RSA")
        #expect(key["use"] == "sig")
        #expect(key["alg"] == "RS256")
        #expect(key["e"] == "AQAB")
        #expect(key["n"]?.string.flatMap { Base64.decode($0) }?.count == 256)
        #expect(key["kid"]?.string.flatMap { Base64.decode($0) }?.count == 4)
    }

    @Test("Another algorithm or size makes a new key, which is published and does not sign yet")
    func change() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await keySet()
        let second = try await keySet("tokens: {rsa_bits: 3072}")
        #expect(second.count == 2)
        #expect(second.last == first.first)
        #expect(second.first?["n"]?.string.flatMap { Base64.decode($0) }?.count == 384)
        let service = try TestService(keys: .directory(folder.path), tokens: "tokens: {algorithm: ES256}")
        let third = try await service.call("jwks", "").result.get()["keys"]?.array ?? []
        #expect(third.map { $0["alg"]?.string } == ["ES256", "RS256", "RS256"])
        #expect(third.first?["crv"] == "P-256")
        for alg in ["RS256", "ES256"] {
            let reply = await service.call(
                "exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
            let token = try #require(reply.result.get()["token"]?.string)
            let header = try JSON.parse(try #require(token.split(separator: ".").first.flatMap { Base64.decode($0) }))
            #expect(header["alg"]?.string == alg)
            guard case .verified = try await service.verify(token) else {
                Issue.record("a token signed by \(alg) does not verify")
                return
            }
            service.clock.advance(by: KeyStore.signingLead)
        }
    }

    @Test("A file that others may read is refused")
    func permissions() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await keySet()
        for mode in [0o604, 0o620, 0o644, 0o666] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let error = await #expect(throws: KeyError.self) { _ = try await keySet() }
            #expect(error?.description.contains("run `chmod 6") == true)
        }
    }

    @Test("A damaged file is refused, is left as it is, and no key of it is shown")
    func damaged() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await keySet()
        let good = try Data(contentsOf: URL(fileURLWithPath: file))
        let text = String(decoding: good, as: UTF8.self)
        let wrong: [Data] = [
            Data(), Data("{}".utf8), Data(good.dropLast(10)), Data("{\"version\":9}".utf8),
            Data(text.replacing("\"kid\":\"", with: "\"kid\":\"X").utf8),
            Data(text.replacing("RS256", with: "HS256").utf8),
            Data(text.replacing("BEGIN PRIVATE", with: "BEGIN PUBLIC").utf8),
            Data(text.replacing("\"version\":2", with: "\"version\":3").utf8),
            Data(text.replacing("\"version\":2", with: "\"version\":0").utf8),
            Data(text.replacing("\"secret\":\"", with: "\"secret\":\"AAAA").utf8),
            Data(text.replacing("\"retired\":null", with: "\"retired\":5").utf8),
            Data(text.replacing("\"retired\":null", with: "\"retired\":\"yesterday\"").utf8),
            Data(text.replacing("\"signing\":", with: "\"sinning\":").utf8),
            Data(text.replacing("\"sealing\":", with: "\"ceiling\":").utf8),
            Data("{\"version\":1,\"signing\":[],\"sealing\":[]}".utf8), Data("{\"version\":1}".utf8),
        ]
        #expect(Set(wrong + [good]).count == wrong.count + 1, "each is another one")
        for data in wrong {
            try data.write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let error = await #expect(throws: KeyError.self) { _ = try await keySet() }
            #expect(error?.description.contains("PRIVATE KEY") == false)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == data)
        }
    }

    @Test("What a crash left of a new file is gone with the next change; no secret lies about")
    func crash() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await keySet()
        let left = folder.appendingPathComponent(".keys.json.new")
        try Data("half a file".utf8).write(to: left)
        #expect(try await keySet() == first, "what was not renamed was never there")
        try KeyStore.directory(folder.path).rotateSealingKey(now: Instant(seconds: 1_795_262_400))
        #expect(try await keySet() == first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [".lock", "keys.json"])
    }

    @Test("A copy has the same keys, is for its owner alone, and takes the place of no others")
    func copy() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let now = Instant(seconds: 1_795_262_400)
        let keys = KeyStore.directory(folder.path)
        try keys.rotateSealingKey(now: now)
        let other = folder.appendingPathComponent("copy").path
        try keys.copy(to: other)
        let copied = try KeyStore.directory(other).list(now: now)
        #expect(try copied == keys.list(now: now))
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(other)/keys.json")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        try keys.rotateSealingKey(now: now)
        let error = #expect(throws: KeyError.self) { try keys.copy(to: other) }
        #expect(error?.message.contains("exists already") == true)
        #expect(try KeyStore.directory(other).list(now: now) == copied)
    }

    @Test("A pipe or a link in the file's place is refused, not followed and not waited for", .timeLimit(.minutes(20)))
    func otherKinds() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await keySet()
        let aside = folder.appendingPathComponent("aside.json").path
        try FileManager.default.moveItem(atPath: file, toPath: aside)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: aside)
        await #expect(throws: KeyError.self) { _ = try await keySet() }
        try FileManager.default.removeItem(atPath: file)
        #expect(mkfifo(file, 0o600) == 0)
        await #expect(throws: KeyError.self) { _ = try await keySet() }
    }

    @Test("A key stays published until its last token has expired, and a day for servers that continued signing")
    func retirement() async throws {
        let keys = KeyStore.ephemeral()
        let clock = ManualClock()
        func published(_ algorithm: String) async throws -> [String?] {
            let policy = PolicyFile(name: "a.yaml", text: "tokens: {algorithm: \(algorithm)}")
            let host = PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent)
            let engine = try Engine(registry: Registry([]), policies: .load([policy]), keys: keys, host: host)
            return try await engine.handle(Call("jwks")).result.get()["keys"]?.array?.map { $0["alg"]?.string } ?? []
        }
        #expect(try await published("RS256") == ["RS256"])
        #expect(try await published("ES256") == ["ES256", "RS256"])
        clock.advance(by: KeyStore.signingLead + .seconds(8 * 86_400 - 1))
        #expect(try await published("ES256") == ["ES256", "RS256"])
        clock.advance(by: .seconds(1))
        #expect(try await published("ES256") == ["ES256"])
        // A clock that is set back withdraws nothing.
        clock.advance(by: .seconds(-30 * 86_400))
        #expect(try await published("ES256") == ["ES256", "RS256"])
        clock.advance(by: .seconds(40 * 86_400))
        #expect(try await published("RS256") == ["RS256", "ES256"], "a key that was retired does not sign again")
    }

    @Test("Two servers that start at once share the keys that one of them makes")
    func race() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sets = try await withThrowingTaskGroup(of: [JSON].self) { group in
            for _ in 0..<4 { group.addTask { try await keySet("tokens: {algorithm: ES256}") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(sets).count == 1)
    }

    @Test("A folder that cannot be made is an error in words")
    func unwritable() async throws {
        let error = #expect(throws: KeyError.self) {
            _ = try TestService(keys: .directory("/proc/nowhere/keys"))
        }
        #expect(error?.description.contains("/proc/nowhere") == true)
    }
}
