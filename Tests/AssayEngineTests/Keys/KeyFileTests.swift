import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Foundation
import SwiftOverlayShims
import Testing
@testable import AssayServices

@Suite("The file of keys")
struct KeyFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "assay-key-file-\(UUID().uuidString)")
    private let clock = ManualClock()
    private var file: URL { folder.appendingPathComponent("keys.json") }
    private var keys: KeyStore { .directory(folder.path) }

    /// As release 0.3 wrote it: this text stays as it is, so that every later release reads it.
    private static func release03(
        _ signing: PrivateKey, _ kid: String, _ old: PrivateKey, _ oldKid: String
    ) throws -> String {
        func pem(_ key: PrivateKey) throws -> String {
            try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.replacing("\n", with: "\\n")
        }
        return """
            {"version":2,"signing":[\
            {"kid":"\(kid)","alg":"ES256","created":"2026-11-20T00:00:00Z","ready":"2026-11-20T07:05:00Z",\
            "begins":"2026-11-20T07:05:00Z","retired":null,"revoked":null,"pem":"\(try pem(signing))"},\
            {"kid":"\(oldKid)","alg":"ES256","created":"2026-11-01T00:00:00Z","ready":"2026-11-01T00:00:00Z",\
            "begins":"2026-11-01T00:00:00Z","retired":null,"revoked":null,"pem":"\(try pem(old))"}],"sealing":[\
            {"id":"00000002","created":"2026-11-05T00:00:00Z","ready":"2026-11-05T00:00:00Z",\
            "begins":"2026-11-05T00:00:00Z","retired":null,"revoked":null,\
            "secret":"\(Base64.encode([UInt8](repeating: 2, count: 32)))"},\
            {"id":"00000001","created":"2026-11-01T00:00:00.500Z","ready":"2026-11-01T00:00:00.500Z",\
            "begins":"2026-11-01T00:00:00.500Z","retired":"2026-11-05T00:00:00Z","revoked":"2026-11-06T00:00:00Z",\
            "secret":"\(Base64.encode([UInt8](repeating: 1, count: 32)))"}]}
            """
    }

    private static func kid(_ key: PrivateKey) -> String {
        Base64.encodeURL((Base64.decode(JWK(signing: key.publicKey, keyID: "").thumbprint) ?? []).prefix(4))
    }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    @Test("A file of release 0.3 is read as it is, and stays as it is until something changes")
    func release03() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (signing, old) = (try PrivateKey.generate(.ec(.p256)), try PrivateKey.generate(.ec(.p256)))
        let text = try Self.release03(signing, Self.kid(signing), old, Self.kid(old))
        try write(text)
        let service = try TestService(keys: keys, tokens: "tokens: {algorithm: ES256}")
        #expect(try String(contentsOf: file, encoding: .utf8) == text, "nothing was missing, nothing is written")
        let before = try keys.list(now: clock.now)
        #expect(before.map(\.id) == [Self.kid(signing), Self.kid(old), "00000002", "00000001"])
        #expect(before.map(\.state) == [.active, .retired, .active, .revoked])
        #expect(before[1].next?.event == .unpublished)
        #expect(before[1].next?.at == Instant(rfc3339: "2026-11-28T07:05:00Z"))
        let (_, artifact) = try await service.attested()
        #expect(artifact[1..<5] == [0, 0, 0, 2])

        _ = try keys.prepareSealingKey(now: clock.now)
        let after = try keys.list(now: clock.now)
        #expect(after.filter { $0.id != after[2].id } == before)
    }

    @Test("Whatever can be written is read as it was")
    func roundTrip() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let kind = TokenPolicy(algorithm: .es256)
        try keys.rotateSealingKey(now: clock.now)
        let first = try keys.prepareSigningKey(kind, lead: .zero, now: clock.now)
        _ = try keys.activate(first.id, now: clock.now)
        let second = try keys.prepareSigningKey(lead: .milliseconds(1), automatic: true, now: clock.now)
        let third = try keys.prepareSigningKey(TokenPolicy(algorithm: .rs256, rsaBits: 3072), now: clock.now)
        _ = try keys.revoke(third.id, now: clock.now)
        let fourth = try keys.prepareSigningKey(now: clock.now)
        _ = try keys.retire(fourth.id, now: clock.now)
        _ = try keys.prepareSealingKey(automatic: true, now: clock.now)
        let states = Dictionary(uniqueKeysWithValues: try keys.list(now: clock.now).map { ($0.id, $0.state) })
        #expect(states[first.id] == .active)
        #expect(states[second.id] == .prepared)
        #expect(states[third.id] == .revoked)
        #expect(states[fourth.id] == .retired)
        let later = try keys.list(now: clock.now + .milliseconds(1))
        #expect(later.first { $0.id == first.id }?.state == .retired)
        #expect(later.first { $0.id == second.id }?.state == .active)
    }

    @Test(
        "A time that is missing or malformed makes the file refused: it is not taken for `never`",
        arguments: ["created", "ready", "begins", "retired", "revoked"])
    func times(_ name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try keys.rotateSealingKey(now: clock.now)
        _ = try keys.prepareSigningKey(TokenPolicy(algorithm: .es256), now: clock.now)
        let good = try String(contentsOf: file, encoding: .utf8)
        let wrong = [
            good.replacing("\"\(name)\":", with: "\"x\(name)\":"),
            good.replacing(try Regex("\"\(name)\":(null|\"[^\"]*\")"), with: "\"\(name)\":\"soon\""),
            good.replacing(try Regex("\"\(name)\":(null|\"[^\"]*\")"), with: "\"\(name)\":0"),
        ]
        for text in wrong {
            #expect(text != good)
            try write(text)
            let error = #expect(throws: KeyError.self) { _ = try keys.list(now: clock.now) }
            #expect(error?.message.contains("/keys.json: ") == true)
            #expect(throws: KeyError.self) { _ = try keys.prepareSealingKey(now: clock.now) }
            #expect(try String(contentsOf: file, encoding: .utf8) == text, "it is left as it is")
        }
    }

    @Test(
        "A file of another version, or of another kind, is refused with its path and left as it is",
        arguments: [
            (#"{"version":99}"#, "written by a later release (version 99, this one knows up to 2)"),
            (#"{"version":1}"#, "version 1 of the file is not read"), ("{", "is not a file of keys"),
        ])
    func otherFiles(text: String, words: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try keys.rotateSealingKey(now: clock.now)
        try write(text)
        let error = #expect(throws: KeyError.self) { _ = try keys.list(now: clock.now) }
        #expect(error?.message.contains("/keys.json: ") == true)
        #expect(error?.message.hasSuffix(words) == true)
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test("The mark of a file is another one after each change, and the same while nothing changes")
    func mark() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(keys.changeMark == nil)
        try keys.rotateSealingKey(now: clock.now)
        var seen: Set<KeyChangeMark> = []
        for _ in 0..<10 {
            let mark = try #require(keys.changeMark)
            _ = try keys.list(now: clock.now)
            #expect(keys.changeMark == mark)
            #expect(seen.insert(mark).inserted)
            _ = try keys.prepareSealingKey(now: clock.now)
        }
        try FileManager.default.removeItem(at: folder)
        #expect(keys.changeMark == nil)
    }

    @Test("When root changes the keys, they stay those of their owner", .enabled(if: geteuid() == 0))
    func owner() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try keys.rotateSealingKey(now: clock.now)
        #expect(chown(folder.path, 65_534, 65_533) == 0 && chown(file.path, 65_534, 65_533) == 0)
        _ = try keys.prepareSealingKey(now: clock.now)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(status.st_uid == 65_534 && status.st_gid == 65_533)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try keys.list(now: clock.now).count == 2)
    }

    @Test("Of many changes at once, none is lost")
    func concurrent() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try keys.rotateSealingKey(now: clock.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let key = try KeyStore.directory(folder.path).prepareSealingKey(lead: .zero, now: clock.now)
                    _ = try KeyStore.directory(folder.path).activate(key.id, now: clock.now)
                }
                group.addTask {
                    // A reader needs no lock, and always finds a whole file.
                    for _ in 0..<20 {
                        let list = try KeyStore.directory(folder.path).list(now: clock.now)
                        #expect(list.count { $0.state == .active } == 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = try keys.list(now: clock.now)
        #expect(found.count == 13)
        #expect(found.count { $0.state == .active } == 1)
        #expect(found.count { $0.state == .retired } == 12)
    }
}
