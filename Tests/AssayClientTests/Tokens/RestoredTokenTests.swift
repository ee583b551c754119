import Testing

@testable import AssayClient

@Suite("Tokens in storage")
struct RestoredTokenTests {
    @Test("a program that starts again uses the token that it has")
    func restores() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(20))
        let restored = try await scene.restarted().token()
        #expect(restored.text == token.text)
        #expect(restored.expires == token.expires)
        #expect(scene.service.requests.count == 1)
    }

    @Test("a forced refresh does not take the stored token")
    func forced() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token()
        #expect(try await scene.restarted().token(forcingRefresh: true).text != token.text)
    }

    @Test("a token is bound to its app and its server")
    func bound() async throws {
        let scene = try ClientScene()
        _ = try await scene.appCheck.token()
        _ = try await scene.restarted(endpoint: "https://other.example.com").token()
        #expect(scene.service.requests.count == 2)
        scene.service.next { _ in .token(FakeToken.text(number: 9, subject: "1:2:ios:3")) }
        _ = try await scene.restarted(app: "projects/1234567890/apps/1:2:ios:3").token()
        #expect(scene.service.requests.count == 3)
    }

    @Test("a token of another start of the device is not used: its time cannot be told")
    func rebooted() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token()
        scene.clock.reboot()
        #expect(try await scene.restarted().token().text != token.text)
    }

    @Test("where the start of the device cannot be known, nothing is stored and nothing is read")
    func unknownBoot() async throws {
        let scene = try ClientScene()
        scene.clock.boot = nil
        _ = try await scene.appCheck.token()
        _ = try await scene.restarted().token()
        #expect(scene.service.requests.count == 2)
    }

    @Test(
        "what is stored is not trusted",
        arguments: [
            "", "{", "[]", #"{"version":2}"#, #"{"version":1,"boot":"BOOT","token":"a.b.c","requested":0}"#,
            // Of another app; from the future; ended; too long a life; text for numbers; no JWT.
            #"{"version":1,"boot":"BOOT","token":"FOREIGN","requested":0,"expires":3600000000000}"#,
            #"{"version":1,"boot":"BOOT","token":"TOKEN","requested":2000000000000,"expires":3600000000000}"#,
            #"{"version":1,"boot":"BOOT","token":"TOKEN","requested":0,"expires":1000000000000}"#,
            #"{"version":1,"boot":"BOOT","token":"TOKEN","requested":0,"expires":9223372036854775807}"#,
            #"{"version":1,"boot":"BOOT","token":"TOKEN","requested":"0","expires":"3600000000000"}"#,
            #"{"version":1,"boot":"BOOT","token":"abc","requested":0,"expires":3600000000000}"#,
        ])
    func damaged(stored: String) async throws {
        let storage = MemoryStorage()
        let scene = try ClientScene(storage: storage)
        let text =
            stored.replacing("BOOT", with: try #require(scene.clock.boot))
            .replacing("TOKEN", with: FakeToken.text(number: 50))
            .replacing("FOREIGN", with: FakeToken.text(number: 51, subject: "1:2:ios:3"))
        storage.save(
            Array(text.utf8),
            as: StorageKey(app: FakeToken.app, server: "https://assay.example.com", name: StoredToken.name))
        #expect(try await scene.appCheck.token().text == FakeToken.text(number: 1))
    }

    @Test("a storage that fails costs no token, and one notice says so")
    func failingStorage() async throws {
        struct Failing: ClientStorage {
            struct Broken: Error {}
            func load(_ key: StorageKey) throws -> [UInt8]? { throw Broken() }
            func save(_ value: [UInt8], as key: StorageKey) throws { throw Broken() }
            func remove(_ key: StorageKey) throws { throw Broken() }
        }
        let scene = try ClientScene(storage: Failing())
        _ = try await scene.appCheck.token()
        _ = try await scene.appCheck.token(forcingRefresh: true)
        #expect(scene.notices.all.count == 1)
        #expect(scene.notices.all.first?.contains("Broken") == true)
    }
}
