import AssayCore
import AssayKit
import Testing

@Suite("Debug tokens that many change at the same time")
struct DebugTokenConcurrencyTests {
    private let service: DebugTokenService

    init() throws {
        service = try DebugTokenService()
    }

    /// How often each answer came, of fifty at the same time; nil is success.
    private func fifty(_ body: @escaping @Sendable (Int) async -> Reply) async -> [StatusCode?: Int] {
        await withTaskGroup(of: StatusCode?.self) { group in
            for number in 1...50 { group.addTask { await body(number).status } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    @Test("Of fifty updates by one etag, one goes through")
    func updates() async throws {
        let made = try await service.create(1).result.get()
        let id = try service.id(of: made)
        let etag = try #require(made["etag"]?.string)
        let counts = await fifty { [service] in await service.update(id, "name \($0)", etag: etag) }
        #expect(counts == [nil: 1, .aborted: 49])
        #expect(try await service.get(id).result.get()["etag"]?.string != etag)
    }

    @Test("Of fifty deletions by one etag, one goes through")
    func deletions() async throws {
        let made = try await service.create(1).result.get()
        let id = try service.id(of: made)
        let etag = made["etag"]?.string
        let counts = await fifty { [service] _ in await service.delete(id, etag: etag) }
        #expect(counts == [nil: 1, .notFound: 49])
    }

    @Test("Of fifty updates without an etag, none is lost or undone: each was the present one for a while")
    func indifferent() async throws {
        let id = try service.id(of: try await service.create(1).result.get())
        let counts = await fifty { [service] in await service.update(id, "name \($0)") }
        #expect(counts == [nil: 50])
        let entries = try await service.memory.list(DebugTokenService.space, after: nil, limit: 100)
        #expect(entries.count == 51)
        #expect(entries.count { !$0.value.isEmpty } == 1)
    }

    @Test("Fifty that register tokens do not go beyond the limit")
    func limit() async throws {
        let counts = await fifty { [service] in await service.create($0) }
        #expect(counts == [nil: 3, .resourceExhausted: 47])
        var good = 0
        for number in 1...50 where await service.exchange(number).status == nil { good += 1 }
        #expect(good == 3)
    }

    @Test("Fifty that register one token register it once")
    func same() async throws {
        let counts = await fifty { [service] _ in await service.create(1) }
        #expect(counts == [nil: 1, .alreadyExists: 49])
        #expect(try await service.list().result.get()["debugTokens"]?.array?.count == 2)
    }
}
