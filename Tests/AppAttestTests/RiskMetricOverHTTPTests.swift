import AssayCore
import AssayHTTPClient
import AssayKit
import AssayServices
import AssayTesting
import AssayTestingHTTP
import Foundation
import Testing

@testable import AssayEngine

/// Runs a test with the path of a database that is gone afterwards.
func withTemporaryDatabase(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("state.sqlite").path)
}

@Suite("Receipts over the network")
struct RiskMetricOverHTTPTests {
    @Test(
        "A device, a server with its maintenance in the background, and Apple behind a socket",
        arguments: [false, true])
    func wholeWay(_ stumbles: Bool) async throws {
        let service = try RiskService()
        service.apple.riskMetric = 2
        if stumbles {
            service.apple.script([
                .respond(OutboundResponse(status: 503)), .hangUp, .respond(OutboundResponse(status: 401)),
            ])
        }
        let client = try HTTPClientService()
        try await LocalServer { service.apple.answer($0) }.run { port in
            let server = try service.server("base_url: 'http://localhost:\(port)/production'", http: client)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await server.runMaintenance() }
                let (keyID, artifact, _) = try await service.attested(by: server)
                for _ in 0..<2000 where try await !service.entries("refresh/").isEmpty {
                    service.clock.advance(by: .seconds(1))
                    try await Task.sleep(for: .milliseconds(5))
                }
                let reply = try await service.assert(server, keyID, artifact)
                #expect(service.fact("risk_metric", reply) == .integer(2))
                group.cancelAll()
            }
        }
        await client.shutDown()
        #expect(service.apple.requests.count >= (stumbles ? 4 : 1))
    }
}
