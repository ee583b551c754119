import AssayCore
import AssayCrypto
import AssayKit
import AssaySQLite
import AssayTesting
import AssayTestSupport
import Foundation
import Testing

@testable import AssayEngine
@testable import AssayServices

@Suite("Keys in the state store, under a master key")
struct StateKeyVaultTests {
    private let clock = ManualClock()

    private func master(_ seed: UInt8) throws -> LocalMasterKey {
        try LocalMasterKey(SecretBytes((0..<32).map { $0 ^ seed }))
    }

    private func vault(_ store: any StateStore, _ master: any MasterKey) -> StateKeyVault {
        StateKeyVault(in: store, master: master, clock: clock.hostClock)
    }

    /// The newest entry of the document.
    private func newest(_ store: any StateStore) async throws -> StateEntry {
        try #require(try await store.list("keyvault/document", after: nil, limit: 1).first)
    }

    /// All bytes that a store has in the spaces of the vault.
    private func everything(_ store: any StateStore) async throws -> [UInt8] {
        var all: [UInt8] = []
        for space in ["keyvault/document", "keyvault/tails"] {
            for entry in try await store.list(space, after: nil, limit: 10_000) { all += entry.value + [0] }
        }
        return all
    }

    @Test("It keeps all promises of a key vault, over a store in memory and in a file", arguments: [false, true])
    func promises(inFile: Bool) async throws {
        try await withTemporaryFolder { folder in
            let suite = KeyVaultSuite { host in
                var host = host
                let path = folder.appending(path: UUID().uuidString).path
                let whole: any StateStore =
                    inFile ? try SQLiteStore(path: path, clock: .system) : MemoryStore(clock: .system)
                let store = FailingStore(whole)
                host.state = store
                host.secrets = SecretSource { _ in Array(String(repeating: "5a", count: 32).utf8) }
                let opened = host
                return KeyVaultSuite.Subject(
                    try await StateKeyVault.open("env:MASTER", host: host),
                    reopen: { try await StateKeyVault.open("env:MASTER", host: opened) },
                    damages: {
                        let entry = try await store.list("keyvault/document", after: nil, limit: 1)[0]
                        try await store.put(
                            StateKey("keyvault/document", entry.name),
                            value: Array(entry.value.prefix(entry.value.count / 2)), expires: nil)
                    }, fails: { store.isFailing = $0 })
            }
            let failures = await suite.run()
            #expect(failures.isEmpty, "\(failures)")
        }
    }

    @Test("Nothing in the store has a part of a private key")
    func secrecy() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let vault = vault(store, try master(1))
        let keys = try await KeyStore.vault(vault, name: "the vault", clock: clock.hostClock)
        keys.allowFirstKeys()
        _ = try await OwnThread.run { try TestService(keys: keys, tokens: "tokens: {algorithm: ES256}") }
        let now = clock.now
        _ = try await keys.perform { (store) throws(KeyError) in try store.prepareSigningKey(now: now) }
        let document = try #require(try await vault.read()).bytes
        let stored = try await everything(store)
        #expect(stored.count > document.count)
        // Of what is read, which has the keys in it, no eight bytes in a row are stored, except for names and numbers.
        let text = String(decoding: document, as: UTF8.self)
        let secrets = text.split(separator: "\"").map { Array($0.utf8) }.filter { $0.count >= 32 }
        #expect(secrets.count >= 3)
        let windows = Set(stored.indices.dropLast(7).map { Array(stored[$0..<$0 + 8]) })
        for secret in secrets {
            for start in 0...secret.count - 8 {
                #expect(!windows.contains(Array(secret[start..<start + 8])))
            }
            if let bytes = Base64.decode(utf8: secret), bytes.count >= 16 {
                #expect(!windows.contains(Array(bytes.prefix(8))))
            }
        }
    }

    @Test("A wrong master key is an error that names both, and never 'no document'")
    func wrongMaster() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let (right, wrong) = (try master(1), try master(2))
        let first = try await vault(store, right).replace([1, 2, 3], expecting: nil)
        #expect(first != nil)
        let other = vault(store, wrong)
        let text = "the keys are wrapped by the master key \(right.id), and the one that was given is \(wrong.id)"
        let read = await #expect(throws: KeyVaultError.self) { try await other.read() }
        #expect(read?.message == text)
        let written = await #expect(throws: KeyVaultError.self) { try await other.replace([4], expecting: first) }
        #expect(written?.message == text)
        #expect(try await other.replace([4], expecting: nil) == nil, "there is a document")
        // The identifier is neither the key nor a part of it.
        #expect(right.id != wrong.id)
        #expect(right.id == (try master(1)).id)
        #expect("\(right.id)".count == 16)
        #expect(MasterKeyID("\(right.id)") == right.id)
    }

    @Test("What was changed in the store is not accepted", arguments: 0..<6)
    func tampering(kind: Int) async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let key = try master(1)
        let first = try await vault(store, key).replace([1, 2, 3], expecting: nil)
        let old = try await newest(store)
        _ = try await vault(store, key).replace([4, 5, 6], expecting: first)
        let entry = try await newest(store)
        var value = entry.value
        switch kind {
        case 0: value[value.count - 1] ^= 1  // the tag
        case 1: value[4] = 0  // no master key
        case 2: value[20] ^= 1  // the wrapping
        case 3: value = old.value  // an older document under the new version
        case 4: value = []
        default: value[3] = 2  // a newer format
        }
        try await store.put(StateKey("keyvault/document", entry.name), value: value, expires: nil)
        await #expect(throws: KeyVaultError.self) { try await vault(store, key).read() }
    }

    @Test("A running server does not take earlier entries that were put back, by which a revoked key would sign again")
    func putBack() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let key = try master(1)
        let running = vault(store, key)
        let first = try await running.replace([1, 2, 3], expecting: nil)
        let old = try await newest(store)
        _ = try await vault(store, key).replace([4, 5, 6], expecting: first)
        #expect(try await running.read()?.bytes == [4, 5, 6])
        let present = try await newest(store)
        try await store.put(StateKey("keyvault/document", present.name), value: nil, expires: nil)
        try await store.put(StateKey("keyvault/document", old.name), value: old.value, expires: nil)
        let error = await #expect(throws: KeyVaultError.self) { try await running.read() }
        #expect("\(try #require(error))".contains("earlier entries were put back"))
        await #expect(throws: KeyVaultError.self) { try await running.revision() }
        try await store.put(StateKey("keyvault/document", present.name), value: present.value, expires: nil)
        #expect(try await running.read()?.bytes == [4, 5, 6])
    }

    @Test("A document of 1 MiB has a part in an entry of its own, of which none is left when it is replaced")
    func tails() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let vault = vault(store, try master(1))
        let large = [UInt8](repeating: 7, count: 1 << 20)
        func tails() async throws -> [StateEntry] { try await store.list("keyvault/tails", after: nil, limit: 10) }
        let first = try await vault.replace(large, expecting: nil)
        #expect(try await tails().count == 1)
        let second = try await vault.replace(large, expecting: first)
        #expect(try await tails().count == 1)
        #expect(try await vault.replace(large, expecting: first) == nil)
        #expect(try await tails().count == 1)
        #expect(try await vault.read()?.bytes == large)
        let name = try #require(try await tails().first?.name)
        let tail = try await store.get(StateKey("keyvault/tails", name))
        try await store.put(StateKey("keyvault/tails", name), value: nil, expires: nil)
        let error = await #expect(throws: KeyVaultError.self) { try await vault.read() }
        #expect(error?.message == "the stored keys are damaged: a part of them is missing")
        try await store.put(StateKey("keyvault/tails", name), value: tail, expires: nil)
        let third = try #require(try await vault.replace([1], expecting: second))
        #expect(try await tails().isEmpty)
        await #expect(throws: KeyVaultError.self) { try await vault.replace(large + [1], expecting: third) }
    }

    @Test("A master key is replaced while servers with either of them run")
    func rotation() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let (old, new, third) = (try master(1), try master(2), try master(3))
        let (first, second) = (vault(store, old), vault(store, new))
        await #expect(throws: KeyVaultError.self) { try await first.addWrapping(by: new) }
        var revision = try await first.replace([1], expecting: nil)
        try await first.addWrapping(by: new)
        #expect(try await second.wrappings() == [old.id, new.id])
        try await first.addWrapping(by: new)
        #expect(try await second.wrappings() == [old.id, new.id])
        #expect(try await first.replace([2], expecting: revision) == nil, "a new wrapping is another revision")

        // Both read and write.
        revision = try await second.revision()
        revision = try await second.replace([2], expecting: revision)
        #expect(try await first.read()?.bytes == [2])
        revision = try await first.replace([3], expecting: revision)
        #expect(try await second.read()?.bytes == [3])

        let own = await #expect(throws: KeyVaultError.self) { try await second.removeWrappings([new.id]) }
        #expect(own?.message.contains("is the master key in use") == true)
        await #expect(throws: KeyVaultError.self) { try await second.removeWrappings([third.id]) }
        try await second.addWrapping(by: third)
        let left = await #expect(throws: KeyVaultError.self) { try await second.removeWrappings([old.id]) }
        #expect(left?.message.contains("\(third.id) would remain") == true)
        let before = try await newest(store).value
        try await second.removeWrappings([old.id, third.id])
        #expect(try await second.wrappings() == [new.id])
        #expect(try await second.read()?.bytes == [3])
        let error = await #expect(throws: KeyVaultError.self) { try await first.read() }
        #expect(error?.message.contains("wrapped by the master key \(new.id)") == true)

        // The old data key, which the old master key still unwraps from a copy, opens nothing new.
        let document = try #require(WrappedDocument(before))
        let key = try await old.unwrap(
            try #require(document.wrapping(by: old.id)).bytes, for: WrappedDocument.purpose)
        let present = try #require(try await second.reading())
        #expect(throws: KeyVaultError.self) {
            try present.document.open(version: present.version, key: key, tail: [])
        }
    }

    @Test("Eight master keys may wrap the keys, and no more")
    func limit() async throws {
        let store = MemoryStore(clock: clock.hostClock)
        let vault = vault(store, try master(0))
        _ = try await vault.replace([1], expecting: nil)
        for seed in 1..<8 { try await vault.addWrapping(by: try master(UInt8(seed))) }
        await #expect(throws: KeyVaultError.self) { try await vault.addWrapping(by: try self.master(8)) }
        #expect(try await self.vault(store, try master(7)).read()?.bytes == [1])
    }

    @Test("Without an open state store the vault is refused, and the registry says that it needs one")
    func withoutStore() async throws {
        let registry = try Registry(.keyVaults)
        #expect(registry.keysUseState("state:env:MASTER"))
        #expect(!registry.keysUseState("file:keys"))
        #expect(!registry.keysUseState("./state:keys"))
        let error = await #expect(throws: KeyError.self) {
            try await registry.openKeys("state:env:MASTER", host: StorageHost(logger: TestService.silent))
        }
        #expect(error?.message.contains("none is open") == true)
        #expect(registry.vaultDescriptors.map(\.scheme) == ["file", "state"])
        let taken = Plugin.unavailable(.vault, name: "state", reason: "x")
        #expect(throws: RegistryError.self) { try Registry([Plugin].keyVaults + [taken]) }
    }

    @Test("All keys of a folder are imported, once")
    func importing() async throws {
        try await withTemporaryFolder { folder in
            let source = KeyStore.directory(folder.path)
            _ = try TestService(keys: source, tokens: "tokens: {algorithm: ES256}")
            let store = MemoryStore(clock: clock.hostClock)
            let keys = try await KeyStore.vault(vault(store, try master(1)), name: "the vault")
            let now = clock.now
            let count = try await keys.perform { (keys) throws(KeyError) in try keys.take(from: source, now: now) }
            #expect(count == 2)
            #expect(try keys.list(now: now).map(\.id) == source.list(now: now).map(\.id))
            await #expect(throws: KeyError.self) {
                try await keys.perform { (keys) throws(KeyError) in try keys.take(from: source, now: now) }
            }
        }
    }
}
