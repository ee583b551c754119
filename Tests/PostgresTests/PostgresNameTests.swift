import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import Testing

@testable import AssayPostgres

/// The store under the name that an operator writes.
@Suite struct PostgresNameTests {
    private let registry: Registry

    init() throws {
        registry = try Registry([.store(PostgresStore.self)])
    }

    @Test(isInstalled) func aURLIsTheNameOfAState() async throws {
        let server = try PostgresServer.shared.get()
        let name = "postgres:" + server.url(options: "schema=\(server.newSchema())")
        let done = try await registry.migrateStore(name)
        #expect(done.contains("the tables were made"))
        let open = try await registry.openStore(name)
        #expect(try await open.store.advance(StateKey("s", "c"), to: 1))
        await open.close()
        #expect(try await registry.examineStore(name).problems == [])
    }

    @Test(arguments: [
        "postgres://u:s3cret@127.0.0.1:1/d", "postgresql://u:s3cret@127.0.0.1:1/d",
        "postgres:host=127.0.0.1 port=1 password=s3cret",
        "postgres://u:s3cret@127.0.0.1:1/d#x", "postgres://u:s3cret%@127.0.0.1:1/d",
    ])
    func noErrorHasThePasswordOfAName(name: String) async {
        let operations: [@Sendable () async throws -> Void] = [
            { [registry] () async throws in await (try await registry.openStore(name)).close() },
            { [registry] in _ = try await registry.examineStore(name) },
            { [registry] in _ = try await registry.migrateStore(name) },
            { [registry] in try await registry.copyStore(name, to: "/nowhere/copy", now: Instant(seconds: 0)) },
        ]
        for operation in operations {
            let error = await #expect(throws: StateStoreOpeningError.self) { try await operation() }
            #expect(error?.message.contains("s3cret") == false)
        }
    }
}
