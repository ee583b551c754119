import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import Foundation
import Logging
import Testing
@testable import AssayServices

@Suite("Keys in a vault")
struct KeyVaultTests {
    private static let es256 = "tokens: {algorithm: ES256}"
    private let clock = ManualClock()

    private func keys(_ place: SharedVault.Place) async throws -> KeyStore {
        let keys = try await KeyStore.vault(SharedVault(place), name: "the key vault shared")
        keys.allowFirstKeys()
        return keys
    }

    /// An engine may wait for the vault, which needs the threads of the tests.
    private func service(_ keys: KeyStore, tokens: String = es256) async throws -> TestService {
        try await OwnThread.run { try TestService(keys: keys, tokens: tokens) }
    }

    private func published(_ service: TestService) async throws -> [String?] {
        try await service.call("jwks", "").result.get()["keys"]?.array?.map { $0["kid"]?.string } ?? []
    }

    @Test("An engine makes the keys that are missing, and the next one has the same")
    func beginning() async throws {
        let place = SharedVault.Place()
        let first = try await service(try await keys(place))
        let second = try await service(try await keys(place))
        let kids = try await published(first)
        #expect(kids.count == 1)
        #expect(try await published(second) == kids)
        let body: JSON = ["debugToken": .string(TestService.debugToken)]
        let reply = await first.call("exchangeDebugToken", TestService.app, body)
        let token = try #require(try reply.result.get()["token"]?.string)
        let verdict = try await second.verify(token)
        #expect("\(verdict)".hasPrefix("verified"), "\(verdict)")
    }

    @Test("Requests and the reading of keys do not ask the vault; a change that another server made is loaded")
    func following() async throws {
        let place = SharedVault.Place()
        let (ours, others) = (try await keys(place), try await keys(place))
        let service = try await service(ours)
        let kids = try await published(service)
        let reads = place.reads
        #expect(try await ours.refresh() == false)
        let now = service.clock.now
        #expect(try ours.list(now: now).count == 2)
        #expect(place.reads == reads)

        let made = try await others.perform { (store) throws(KeyError) in try store.prepareSigningKey(now: now) }
        #expect(try service.engine.reloadKeys() == false, "nobody has asked the vault")
        #expect(try await ours.refresh())
        #expect(try service.engine.reloadKeys())
        #expect(try await published(service) == [made.id] + kids)
        #expect(ours.files == [])
    }

    @Test("Many changes by two servers at once are all kept")
    func races() async throws {
        let place = SharedVault.Place()
        let (ours, others) = (try await keys(place), try await keys(place))
        _ = try await service(ours)
        let now = clock.now
        let made = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<6 {
                let keys = number % 2 == 0 ? ours : others
                group.addTask {
                    try await keys.perform { (store) throws(KeyError) in try store.prepareSealingKey(now: now).id }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(made.count == 6)
        _ = try await ours.refresh()
        #expect(try Set(ours.list(now: now).map(\.id)).isSuperset(of: made))
    }

    @Test("A vault that fails or has lost its keys changes nothing, and no new keys are made in their place")
    func failures() async throws {
        let place = SharedVault.Place()
        let keys = try await keys(place)
        let service = try await service(keys)
        let kids = try await published(service)

        place.isFailing = true
        let locked = await #expect(throws: KeyError.self) { try await keys.refresh() }
        #expect(locked?.message == "the key vault shared: the vault is locked")
        #expect(try service.engine.reloadKeys() == false)
        place.isFailing = false

        place.lose()
        let lost = await #expect(throws: KeyError.self) { try await keys.refresh() }
        #expect(lost?.message == "the key vault shared has lost its keys")
        let now = clock.now
        await #expect(throws: KeyError.self) {
            try await keys.perform { (store) throws(KeyError) in try store.rotateSealingKey(now: now) }
        }
        #expect(try await published(service) == kids)

        let broken = SharedVault.Place()
        _ = try await SharedVault(broken).replace(Array("{\"secret\": 1".utf8), expecting: nil)
        let damaged = await #expect(throws: KeyError.self) { try await self.keys(broken) }
        #expect(damaged?.message.contains("is damaged, or is not a file of keys") == true)
        #expect(damaged?.message.contains("secret") == false)
    }

    @Test("A vault that does not answer is given up after half a minute")
    func hanging() async throws {
        let place = SharedVault.Place()
        place.isHanging = true
        let clock = clock
        let opening = Task { try await KeyStore.vault(SharedVault(place), name: "the vault", clock: clock.hostClock) }
        while clock.sleeperCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: KeyError.self) { try await opening.value }
        #expect(error?.message == "the vault did not answer within 30 s")
        place.isHanging = false
    }

    @Test("A vault is found by each of its schemes")
    func aliases() async throws {
        let registry = try Registry([.vault(SharedVault.self)])
        for name in ["shared:alias", "common:alias"] {
            let opened = try await registry.openKeys(name, host: StorageHost(logger: TestService.silent))
            #expect(opened.name == name)
        }
        await #expect(throws: KeyError.self) {
            try await registry.openKeys("usual:alias", host: StorageHost(logger: TestService.silent))
        }
    }

    @Test("Keys in an empty vault are made by an explicit step only, and never in the place of others")
    func firstKeys() async throws {
        let place = SharedVault.Place()
        let keys = try await KeyStore.vault(SharedVault(place), name: "the vault")
        #expect(try !keys.hasKeys)
        let error = await #expect(throws: (any Error).self) { try await service(keys) }
        #expect("\(try #require(error))".contains("there are no keys in the vault"))
        let now = clock.now
        await #expect(throws: KeyError.self) {
            try await keys.perform { (store) throws(KeyError) in try store.rotateSealingKey(now: now) }
        }
        #expect(try !keys.hasKeys)
        let made = try await keys.perform { (store) throws(KeyError) in
            try store.makeFirstKeys(TokenPolicy(algorithm: .es256), now: now)
        }
        #expect(made.map(\.state) == [.active, .active])
        #expect(try keys.hasKeys)
        let again = await #expect(throws: KeyError.self) {
            try await keys.perform { (store) throws(KeyError) in try store.makeFirstKeys(now: now) }
        }
        #expect(again?.isRefusal == true)
        #expect(try await published(service(keys)) == made.filter { $0.purpose == .signing }.map(\.id))
    }

    @Test("The server's work takes changes up, says what fails, and tries again")
    func run() async throws {
        let log = RecordingLog()
        let place = SharedVault.place("run")
        let registry = try Registry([.vault(SharedVault.self)])
        let opened = try await registry.openKeys("shared:run", host: StorageHost(logger: log.logger))
        opened.store.allowFirstKeys()
        #expect(opened.name == "shared:run")
        let service = try await service(opened.store)
        let clock = clock
        let work = Task { await opened.run(for: service.engine, clock: clock.hostClock, logger: log.logger) }
        /// Lets one question to the vault pass.
        func turn() async throws {
            while clock.sleeperCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
            clock.advance(by: .seconds(5))
            while clock.sleeperCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
        #expect(opened.readiness == .ready)
        let (others, now) = (try await keys(place), service.clock.now)
        let made = try await others.perform { (store) throws(KeyError) in try store.prepareSigningKey(now: now).id }
        try await turn()
        #expect(try await published(service).contains(made))

        place.isFailing = true
        try await turn()
        try await turn()
        #expect(
            opened.readiness == .degraded("the key vault cannot be followed: the key vault shared: the vault is locked")
        )
        #expect(opened.blockingReason == "the vault is locked")
        place.isFailing = false
        try await turn()
        #expect(opened.readiness == .ready)
        #expect(opened.blockingReason == nil)
        #expect(log.lines.filter { $0.contains("cannot be followed") }.count == 1)
        #expect(log.lines.filter { $0.contains("is followed again") }.count == 1)

        work.cancel()
        await work.value
        await opened.close()
        await #expect(throws: KeyError.self) { try await opened.store.refresh() }
    }

    @Test(
        "The name of a place is a folder, or the scheme of a vault with a location",
        arguments: [
            ("/var/lib/assay-keys", nil), ("./shared:x", nil), ("keys-2:old", nil), ("file:/var/keys", nil),
            ("shared:names", nil), ("", "has no name"), ("file:", "expected the path of a folder"),
            (
                "other:x",
                "unknown key vault 'other'; the vaults are file:FOLDER, shared:NAME, state:MASTERKEY, and a path is a folder"
            ),
            ("shared:refused", "the key vault 'shared': the location is?[2J refused"),
            ("gone:x", "the key vault 'gone' is unavailable: no library"),
        ])
    func names(name: String, problem: String?) async throws {
        let registry = try Registry([
            .vault(SharedVault.self), .unavailable(.vault, name: "gone", reason: "no library"),
        ])
        let host = StorageHost(logger: TestService.silent)
        guard let problem else {
            let opened = try await registry.openKeys(name, host: host)
            #expect(opened.name == (name.hasPrefix("file:") ? "/var/keys" : name))
            #expect(opened.store.files.isEmpty == name.hasPrefix("shared:"))
            #expect(opened.readiness == .ready)
            // There is nothing to do for a folder.
            if !name.hasPrefix("shared:") {
                await opened.run(for: try TestService().engine, logger: TestService.silent)
            }
            await opened.close()
            return
        }
        let error = await #expect(throws: KeyError.self) { try await registry.openKeys(name, host: host) }
        #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }
}
