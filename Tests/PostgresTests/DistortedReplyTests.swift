import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayPostgres

/// The replies of a server come through something that repeats, drops or mixes them.
@Suite(isInstalled) struct DistortedReplyTests {
    /// What the store said about the names that it was asked to insert, and what it returned for others.
    private struct Answers: Sendable {
        var made: [String: Int] = [:]
        var wrong: [String] = []
        var failed = 0
    }

    @Test(arguments: Proxy.Distortion.allCases)
    func noReplyIsTakenForThatToAnotherQuestion(distortion: Proxy.Distortion) async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try Proxy(to: server.port)
        defer { proxy.close() }
        let schema = server.newSchema()
        let store = try await openStore(schema, "pool=2&timeout=300ms", port: proxy.port)
        for name in ["a", "b"] { try await store.put(StateKey("values", name), value: Array(name.utf8), expires: nil) }
        proxy.distort(distortion)
        let answers = await withTaskGroup(of: Answers.self) { group in
            for client in 0..<3 { group.addTask { await Self.ask(store, "\(client)") } }
            return await group.reduce(into: Answers()) { all, one in
                all.made.merge(one.made) { $0 + $1 }
                all.wrong += one.wrong
                all.failed += one.failed
            }
        }
        proxy.distort(nil)
        #expect(answers.failed > 0, "nothing was distorted")
        #expect(answers.wrong == [])
        #expect(answers.made.filter { $0.value > 1 }.isEmpty, "made twice")
        for name in answers.made.keys {
            let found = try server.integer(
                "SELECT count(*) FROM \(schema).entry WHERE name = convert_to('\(name)', 'UTF8')")
            #expect(found == 1, "\(name) was not made")
        }
        // An insertion that throws may be made.
        try await eventually { try await store.put(StateKey("values", "a"), value: [7], expires: nil) }
        #expect(try await eventually { try await store.get(StateKey("values", "a")) } == [7])
        await store.close()
    }

    /// Asks for as many things as fit into a bounded number of failures.
    private static func ask(_ store: PostgresStore, _ client: String) async -> Answers {
        var answers = Answers()
        for number in 0..<60 where answers.failed < 20 {
            let name = "\(client)-\(number)"
            for _ in 0..<2 {
                do {
                    if try await store.commit([insertion(name)]) == nil { answers.made[name, default: 0] += 1 }
                } catch {
                    answers.failed += 1
                }
            }
            for name in ["a", "b", "absent"] {
                do {
                    let value = try await store.get(StateKey("values", name))
                    if value != (name == "absent" ? nil : Array(name.utf8)) { answers.wrong.append(name) }
                } catch {
                    answers.failed += 1
                }
            }
        }
        return answers
    }

    @Test(arguments: Proxy.Distortion.allCases)
    func aStoreIsOpenedOrRefusedWhateverComes(distortion: Proxy.Distortion) async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try Proxy(to: server.port)
        defer { proxy.close() }
        proxy.distort(distortion)
        let url = { (port: UInt16) in
            server.url(port: port, options: "schema=\(server.newSchema())&pool=1&timeout=300ms")
        }
        _ = await openingMessage(url(proxy.port))
        _ = try? await PostgresStore.migrate(url(proxy.port))
        _ = try? await PostgresStore.examine(url(proxy.port))
        proxy.distort(nil)
        #expect(await openingMessage(url(proxy.port)) == nil)
    }
}

/// A result with another form than a statement has.
@Suite struct TableTests {
    private static let number = Row([[0, 0, 0, 0, 0, 0, 0, 7]], types: [Statement.int8])

    @Test func aTableHasAsManyRowsAsAreAskedFor() throws {
        #expect(throws: PostgresStoreError.self) { try Table().single() }
        #expect(try Table().row()?.integer(0) == nil)
        #expect(try Table(rows: [Self.number]).single().integer(0) == 7)
        let two = Table(rows: [Self.number, Self.number])
        #expect(throws: PostgresStoreError.self) { try two.single() }
        #expect(throws: PostgresStoreError.self) { try two.row() }
    }

    @Test func aColumnHasTheTypeThatIsAskedFor() throws {
        #expect(try Row([[0xFF, 0xFF, 0xFF, 0xFE]], types: [Statement.int4]).integer(0) == -2)
        #expect(try Row([nil], types: [Statement.int8]).optionalInteger(0) == nil)
        let wrong: [(Row) throws -> Void] = [
            { _ = try $0.bytes(0) }, { _ = try $0.text(0) }, { _ = try $0.bool(0) }, { _ = try $0.integer(1) },
            { _ = try $0.integer(-1) },
        ]
        for read in wrong { #expect(throws: PostgresStoreError.self) { try read(Self.number) } }
        #expect(throws: PostgresStoreError.self) { try Row([nil], types: [Statement.int8]).integer(0) }
        #expect(throws: PostgresStoreError.self) { try Row([[1, 2]], types: [Statement.int8]).integer(0) }
        #expect(throws: PostgresStoreError.self) { try Row([[2]], types: [Statement.bool]).bool(0) }
        #expect(throws: PostgresStoreError.self) { try Row([[1]], types: []).bool(0) }
    }
}
