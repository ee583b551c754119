import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayTesting
import Testing

private let badTokens: [JSON] = [
    [:], ["displayName": "a"], ["token": .string(DebugTokenService.uuid(1))],
    ["displayName": "", "token": .string(DebugTokenService.uuid(1))],
    ["displayName": .string(String(repeating: "n", count: 257)), "token": .string(DebugTokenService.uuid(1))],
    ["displayName": "a\nb", "token": .string(DebugTokenService.uuid(1))],
    ["displayName": "a", "token": "x"], ["displayName": "a", "token": 1],
    // Neither the version nor the variant of a random UUID.
    ["displayName": "a", "token": "0b7c5a5e-3f0e-1c5d-9e0f-6a1b2c3d4e5f"],
    ["displayName": "a", "token": "0b7c5a5e-3f0e-4c5d-ce0f-6a1b2c3d4e5f"],
    ["displayName": "a", "token": "0b7c5a5e3f0e4c5d9e0f6a1b2c3d4e5f"],
    ["displayName": "a", "token": .string(DebugTokenService.uuid(1)), "expireTime": "soon"],
    ["displayName": "a", "token": .string(DebugTokenService.uuid(1)), "expireTime": "2026-11-21T12:00:00Z"],
]

private let badUpdates: [(String?, JSON)] = [
    (nil, ["displayName": "b"]), ("", ["displayName": "b"]), ("displayName", [:]), ("displayName", ["displayName": ""]),
    ("token", ["token": .string(DebugTokenService.uuid(2))]), ("displayName,etag", ["displayName": "b"]),
    ("displayName", ["displayName": "b", "token": .string(DebugTokenService.uuid(1))]),
    ("displayName", ["displayName": .string(String(repeating: "é", count: 129))]),
]

private let badPages: [JSON] = [
    ["pageSize": "-1"], ["pageSize": "x"], ["pageToken": "%%"], ["pageToken": "AAAA"],
]

@Suite("The methods of debug tokens")
struct DebugTokenMethodTests {
    private let service: DebugTokenService

    init() throws {
        service = try DebugTokenService()
    }

    @Test("A token that was registered is exchanged, in either case, by its app and its OAuth clients and no other app")
    func exchanged() async throws {
        #expect(await service.exchange(1).reason == "debug_token_unknown")
        let made = try await service.create(1, "a phone").result.get()
        #expect(made.members?.map(\.name) == ["name", "displayName", "updateTime", "etag"])
        #expect(made["displayName"] == "a phone")
        #expect(made["updateTime"] == "2026-11-21T12:00:00Z")
        let id = try service.id(of: made)
        #expect(made["name"]?.string == "projects/1234567890/apps/\(DebugServer.appID)/debugTokens/\(id)")
        #expect(try await service.get(id).result.get() == made)

        let reply = await service.exchange(1)
        #expect(try reply.result.get()["ttl"] == "7200s")
        let claims = try JSON.claims(of: try #require(reply.result.get()["token"]?.string))
        #expect(claims["provider"] == "debug")
        #expect(
            service.record(reply)?.facts == [Fact("debug_token", .text("a phone")), Fact("debug_token_id", .text(id))])
        #expect(await service.exchange(1, upperCase: true).status == nil)
        #expect(await service.exchange(1, "oauthClients/example-client").status == nil)
        #expect(await service.exchange(1, DebugServer.otherApp).reason == "debug_token_unknown")
        // Another app may have the same token.
        #expect(await service.create(1, in: DebugServer.otherApp).status == nil)
        #expect(await service.exchange(1, DebugServer.otherApp).status == nil)
    }

    @Test("One that was deleted is refused from then on, and is not there any more")
    func deleted() async throws {
        let id = try service.id(of: try await service.create(1).result.get())
        #expect(try await service.delete(id).result.get() == [:])
        #expect(await service.exchange(1).reason == "debug_token_unknown")
        #expect(await service.get(id).status == .notFound)
        #expect(await service.delete(id).status == .notFound)
        #expect(await service.update(id, "b").status == .notFound)
        #expect(try await service.list().result.get()["debugTokens"]?.array?.count == 1)
        #expect(await service.create(1).status == nil)
    }

    @Test("The text of a token is nowhere: in no answer, in no record, and the state store has its hash")
    func secrecy() async throws {
        let reply = await service.create(7, "secret one")
        let id = try service.id(of: try reply.result.get())
        let answers = [
            reply, await service.create(7), await service.get(id), await service.list(), await service.exchange(7),
            await service.update(id, "other"), await service.create(8, ""),
        ]
        for answer in answers {
            #expect(!"\(answer.result)".lowercased().contains(DebugTokenService.uuid(7)))
            let record = try #require(service.record(answer))
            #expect(!"\(record)".lowercased().contains(DebugTokenService.uuid(7)))
        }
        let entries = try await service.memory.list(DebugTokenService.space, after: nil, limit: 10)
        #expect(entries.count == 2)
        let text = String(decoding: try #require(entries.first).value, as: UTF8.self)
        #expect(!text.lowercased().contains(DebugTokenService.uuid(7)))
        #expect(text.contains(Base64.encodeURL(SHA256.hash(Array(DebugTokenService.uuid(7).utf8)))))
    }

    @Test("A token that is none, or has no good name, is not registered", arguments: badTokens)
    func wrongTokens(_ message: JSON) async throws {
        let reply = await service.call("createDebugToken", ["debugToken": message])
        #expect(reply.status == .invalidArgument)
        #expect(try await service.memory.list(DebugTokenService.space, after: nil, limit: 10).isEmpty)
    }

    @Test("A name has 256 bytes at most")
    func longName() async throws {
        let name = String(repeating: "é", count: 128)
        #expect(try await service.create(1, name).result.get()["displayName"]?.string == name)
    }

    @Test("No token is there twice: registered, or in the policy, of which the answer says where")
    func twice() async throws {
        _ = try await service.create(1).result.get()
        #expect(await service.create(1, "another").status == .alreadyExists)
        let reply = await service.call(
            "createDebugToken",
            ["debugToken": ["displayName": "a", "token": .string(DebugServer.debugToken.lowercased())]])
        #expect(reply.status == .alreadyExists)
        #expect(reply.message?.contains("test.yaml:12:") == true, "\(reply)")
    }

    @Test("There are as many as the policy says; those that have expired do not count, and are refused")
    func limit() async throws {
        let soon: JSON = "2026-11-21T12:00:10Z"
        for number in 1...3 {
            let expires = number == 2 ? soon : JSON?.none
            let made = try await service.create(number, expires: expires).result.get()
            #expect(made["expireTime"] == expires)
        }
        #expect(await service.create(4).status == .resourceExhausted)
        #expect(await service.exchange(2).status == nil)
        service.clock.advance(by: .seconds(10))
        #expect(await service.exchange(2).reason == "debug_token_expired")
        #expect(await service.create(4).status == nil)
        #expect(await service.exchange(2).reason == "debug_token_unknown")
        #expect(await service.create(5).status == .resourceExhausted)
    }

    @Test("The limit is 20 where the policy does not say, as in Google's service")
    func standardLimit() async throws {
        let app = DebugServer.otherApp
        for number in 1...20 { #expect(await service.create(number, in: app).status == nil) }
        #expect(await service.create(21, in: app).status == .resourceExhausted)
    }

    @Test("The list has the policy's tokens, too, and comes in pages, each token once")
    func list() async throws {
        for number in 1...3 { _ = try await service.create(number, "number \(number)").result.get() }
        let all = try #require(try await service.list().result.get()["debugTokens"]?.array)
        #expect(
            Set(all.compactMap { $0["displayName"]?.string }) == ["number 1", "number 2", "number 3", "of the file"])
        #expect(try await service.list().result.get()["nextPageToken"] == nil)
        var found: [JSON] = []
        var token = ""
        var pages = 0
        repeat {
            let page = try await service.list(["pageSize": "3", "pageToken": .string(token)]).result.get()
            found += page["debugTokens"]?.array ?? []
            token = page["nextPageToken"]?.string ?? ""
            pages += 1
        } while !token.isEmpty && pages < 10
        #expect(pages == 2)
        #expect(found == all)
        #expect(try await service.list([:], DebugServer.otherApp).result.get() == [:])
    }

    @Test("A page begins where the one before ended, whatever was registered or deleted meanwhile")
    func changingList() async throws {
        for number in 1...3 { _ = try await service.create(number).result.get() }
        let first = try await service.list(["pageSize": "2"]).result.get()
        let shown = try #require(first["debugTokens"]?.array)
        #expect(await service.delete(try service.id(of: shown[1])).status == nil)
        let rest = try await service.list(["pageToken": first["nextPageToken"] ?? .null]).result.get()
        let names = (shown + (rest["debugTokens"]?.array ?? [])).compactMap { $0["name"]?.string }
        #expect(names.count == 4)
        #expect(Set(names).count == 4)
    }

    @Test("A page that nobody was given is refused", arguments: badPages)
    func wrongPages(_ request: JSON) async throws {
        #expect(await service.list(request).status == .invalidArgument)
    }

    @Test("The token of a page is good for its app only")
    func foreignPage() async throws {
        _ = try await service.create(1).result.get()
        let token = try #require(try await service.list(["pageSize": "1"]).result.get()["nextPageToken"])
        #expect(await service.list(["pageToken": token]).status == nil)
        #expect(await service.list(["pageToken": token], DebugServer.otherApp).status == .invalidArgument)
    }

    @Test("An update gives a token another name, and with it another etag and time; the same name changes nothing")
    func update() async throws {
        let made = try await service.create(1, "a").result.get()
        let id = try service.id(of: made)
        service.clock.advance(by: .seconds(60))
        #expect(try await service.update(id, "a").result.get() == made)
        let changed = try await service.update(id, "b").result.get()
        #expect(changed["displayName"] == "b")
        #expect(changed["updateTime"] == "2026-11-21T12:01:00Z")
        #expect(changed["etag"] != made["etag"])
        #expect(changed["name"] == made["name"])
        #expect(try await service.get(id).result.get() == changed)
        #expect(await service.exchange(1).status == nil)
    }

    @Test("An update of anything but the name is refused, and changes nothing", arguments: badUpdates)
    func wrongUpdates(_ mask: String?, _ message: JSON) async throws {
        let made = try await service.create(1, "a").result.get()
        let id = try service.id(of: made)
        var members = [JSONMember("debugTokenId", .string(id)), JSONMember("debugToken", message)]
        if let mask { members.append(JSONMember("updateMask", .string(mask))) }
        #expect(await service.call("updateDebugToken", .object(members)).status == .invalidArgument)
        #expect(try await service.get(id).result.get() == made)
    }

    @Test("An etag lets a change through as long as the token is what it was")
    func etags() async throws {
        let made = try await service.create(1, "a").result.get()
        let id = try service.id(of: made)
        let etag = try #require(made["etag"]?.string)
        #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.count > 10)
        let changed = try await service.update(id, "b", etag: etag).result.get()
        #expect(await service.update(id, "c", etag: etag).status == .aborted)
        #expect(await service.delete(id, etag: etag).status == .aborted)
        #expect(try await service.get(id).result.get() == changed)
        #expect(await service.delete(id, etag: changed["etag"]?.string).status == nil)
    }

    @Test("A token of the policy is shown like others; what would change it is refused with its file and line")
    func ofTheFile() async throws {
        let listed = try #require(try await service.list().result.get()["debugTokens"]?.array?.first)
        #expect(listed.members?.map(\.name) == ["name", "displayName", "etag"])
        let id = try service.id(of: listed)
        #expect(try await service.get(id).result.get() == listed)
        for reply in [await service.update(id, "mine"), await service.delete(id)] {
            #expect(reply.status == .failedPrecondition)
            #expect(reply.message?.contains("test.yaml:12:") == true, "\(reply)")
        }
        // What changes nothing is no mistake.
        #expect(try await service.update(id, "of the file").result.get() == listed)
        #expect(await service.update(id, "of the file", etag: "\"old\"").status == .aborted)
        #expect(try await service.get(id).result.get() == listed)
    }

    @Test("Where the policy has no `managed`, nobody registers any, and those of before are neither good nor shown")
    func notManaged() async throws {
        let id = try service.id(of: try await service.create(1).result.get())
        try service.replaceFirst(DebugTokenService.listedOnly)
        #expect(await service.exchange(1).reason == "debug_token_unknown")
        #expect(await service.get(id).status == .notFound)
        #expect(await service.delete(id).status == .notFound)
        #expect(try await service.list().result.get()["debugTokens"]?.array?.count == 1)
        let reply = await service.create(2)
        #expect(reply.status == .failedPrecondition)
        #expect(reply.message?.contains("`managed`") == true)
        #expect(reply.message?.contains("test.yaml:12:") == true, "\(reply)")
        try service.replaceFirst(DebugTokenService.managed)
        #expect(await service.exchange(1).status == nil)
    }

    @Test(
        "Only administrators may, and nobody else learns what there is",
        arguments: ["createDebugToken", "listDebugTokens", "getDebugToken", "updateDebugToken", "deleteDebugToken"])
    func permissions(_ method: String) async throws {
        let id = try service.id(of: try await service.create(1).result.get())
        for body: JSON in [[:], ["debugTokenId": .string(id), "updateMask": "displayName"]] {
            #expect(await service.call(method, body, as: nil).status == .unauthenticated)
            #expect(await service.call(method, body, as: "nobody-knows-this-0123456789").status == .unauthenticated)
            #expect(await service.call(method, body, as: DebugServer.verifier).status == .permissionDenied)
            #expect(await service.call(method, body, as: DebugServer.minter).status == .permissionDenied)
        }
    }

    @Test("With the state store down, nothing is decided that needs it, and what the policy lists is")
    func storeDown() async throws {
        let id = try service.id(of: try await service.create(1).result.get())
        service.store.isFailing = true
        #expect(await service.exchange(1).status == .unavailable)
        #expect(await service.exchange("not a UUID").reason == "debug_token_unknown")
        #expect(await service.exchange(DebugServer.debugToken).status == nil)
        #expect(await service.create(2).status == .unavailable)
        #expect(await service.get(id).status == .unavailable)
        #expect(await service.list().status == .unavailable)
        #expect(await service.delete(id).status == .unavailable)
        service.store.isFailing = false
        #expect(await service.exchange(1).status == nil)
    }

    @Test("State that nobody wrote makes no token good, and is not written over")
    func damaged() async throws {
        _ = try await service.create(1).result.get()
        let entry = try #require(try await service.memory.list(DebugTokenService.space, after: nil, limit: 1).first)
        let key = StateKey(DebugTokenService.space, entry.name)
        try await service.memory.put(key, value: Array(#"{"version":1,"tokens":[{}]}"#.utf8), expires: nil)
        #expect(await service.exchange(1).status == .unavailable)
        #expect(await service.create(2).status == .unavailable)
        #expect(try await service.memory.list(DebugTokenService.space, after: nil, limit: 10).count == 1)
    }
}
