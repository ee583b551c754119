import AssayCore
import AssayKit
import AssayTestSupport
import Testing

@testable import AssayPostgres

@Suite(isInstalled, .enabled(if: SteadyRate.rows != nil, Comment(rawValue: SteadyRate.reason))) struct SteadyRateTests {
    @Test func removesAsManyAsAreInserted() async throws {
        let server = try PostgresServer()
        defer { server.kill() }
        let store = try await openStore("assay", "pool=4&timeout=10s", on: server)
        // It looks for what has expired every 5 seconds, and waits for 15 seconds before it removes that.
        let measurement = SteadyRate("PostgreSQL", store, folder: "\(server.folder)/data", delay: .seconds(30)) {
            let table = try server.table(
                """
                SELECT n_tup_ins - n_tup_del, pg_total_relation_size(relid) FROM pg_stat_user_tables
                WHERE schemaname = 'assay' AND relname = 'entry'
                """)
            return SteadyRate.Size(rows: Int(try table.single().integer(0)), bytes: Int(try table.single().integer(1)))
        }
        #expect(try await measurement.run() == [])
        await store.close()
    }
}
