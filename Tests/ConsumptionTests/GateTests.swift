import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Synchronization
import Testing

@Suite("Every decision passes one gate")
struct GateTests {
    private static let reason = "audit records cannot be written"

    @Test("While something keeps the engine from deciding, no method decides or stores; the keys stay public")
    func methods() async throws {
        let isBlocked = Mutex(false)
        let service = try PlacesService(blockingReason: { isBlocked.withLock { $0 } ? Self.reason : nil })
        let token = try await service.token()
        isBlocked.withLock { $0 = true }
        service.store.isFailing = true
        for method in service.engine.methods {
            for (resource, caller) in [
                ("projects/1234567890/apps/\(PlacesService.app)", PlacesService.admin),
                ("projects/1234567890", PlacesService.admin), ("oauthClients/\(PlacesService.client)", nil), ("x", nil),
            ] as [(String, String?)] {
                let reply = await service.call(
                    method.name, ["audience": .string(PlacesService.server)], resource: resource, token: token,
                    as: caller)
                if method.name == "jwks" {
                    #expect(try reply.result.get()["keys"] != nil)
                    continue
                }
                // Where the keys are is public, too; this issuer is not one's own.
                guard method.kind != .keySet else {
                    #expect(throws: CallFailure.self) { try reply.result.get() }
                    continue
                }
                expectBlocked(reply.result.map { _ in () }, reply.decision, service, method.name)
            }
        }
        isBlocked.withLock { $0 = false }
        service.store.isFailing = false
        #expect(try await Place.backend.accepts(token, service))
    }

    @Test(
        "While something keeps the engine from deciding, no request to a protected service is let through",
        arguments: [
            "plain.example.com", "watched.example.com", "open.example.com", "once.example.com", "apart",
            "firestore.googleapis.com", "unknown.example.com",
        ])
    func protect(_ id: String) async throws {
        let service = try PlacesService(blockingReason: { Self.reason })
        for project in ["example-project", "1234567890", "nobody"] {
            let protection = await service.engine.protect(ProtectedRequest(project: project, service: id, token: nil))
            expectBlocked(protection.result.map { _ in () }, protection.decision, service, id)
        }
    }

    @Test("Each request to a protected service is on record once, but for those that nobody looks at")
    func records() async throws {
        let service = try PlacesService()
        for (project, id, isRecorded) in [
            ("example-project", "plain.example.com", true), ("example-project", "watched.example.com", true),
            ("example-project", "open.example.com", false), ("example-project", "unknown.example.com", true),
            ("nobody\n", "plain.example.com", true),
        ] {
            let count = service.sink.records.count
            let protection = await service.engine.protect(ProtectedRequest(project: project, service: id, token: nil))
            #expect(service.sink.records.count == count + (isRecorded ? 1 : 0), "\(project) \(id)")
            guard isRecorded else { continue }
            let record = try #require(service.sink.record(of: protection.decision))
            #expect(record.method == "protect")
            #expect(record.resource == "projects/\(project == "nobody\n" ? "nobody?" : "1234567890")/services/\(id)")
        }
    }

    private func expectBlocked(
        _ result: Result<Void, CallFailure>, _ decision: DecisionID, _ service: PlacesService, _ what: String
    ) {
        guard case .failure(let failure) = result else {
            Issue.record("\(what): something was decided")
            return
        }
        #expect(failure.status == .unavailable, "\(what)")
        #expect(service.sink.record(of: decision)?.detail == Self.reason, "\(what)")
    }
}
