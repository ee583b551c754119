import AssayCore
import AssayKit
import AssayTestSupport
import Testing

@testable import AssayRedis

@Suite(
    .enabled(if: SteadyRate.rows != nil, Comment(rawValue: SteadyRate.reason)),
    .enabled(if: ServerProgram.any != nil, ServerProgram.missing)
) struct SteadyRateTests {
    /// Valkey where it is installed, with the durability that the store demands.
    ///
    /// The store has the server keep entries for ten minutes after their end; here it is ten seconds, so that a short run
    /// has a steady half.
    @Test func removesAsManyAsAreInserted() async throws {
        let program = try #require(ServerProgram.valkey ?? ServerProgram.any)
        let server = try TestServer(program, onDisk: true)
        let store = try await open(server.location("timeout=10000"), margin: .seconds(10))
        let measurement = SteadyRate(program.name, store, folder: server.folder, delay: .seconds(20)) {
            let memory = try server.ask("INFO", "memory").split(whereSeparator: \.isNewline)
                .first { $0.hasPrefix("used_memory:") }
            let rows = try server.ask("DBSIZE").split(whereSeparator: \.isNewline).first
            return SteadyRate.Size(
                rows: rows.flatMap { Int($0) } ?? 0, bytes: memory.flatMap { Int($0.dropFirst(12)) } ?? 0)
        }
        #expect(try await measurement.run() == [])
        await store.close()
    }
}
