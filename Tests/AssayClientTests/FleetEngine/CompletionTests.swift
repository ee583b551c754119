import AssayCore
import Synchronization
import Testing

@testable import AssayClient

@Suite("Fleet Engine's tokens for completion handlers", .timeLimit(.minutes(5)))
struct CompletionTests {
    /// What completion handlers were called with, in order.
    private final class Calls: Sendable {
        private let entries = Mutex<[(token: String?, error: AppCheckError?, isOther: Bool)]>([])

        var all: [(token: String?, error: AppCheckError?, isOther: Bool)] { entries.withLock { $0 } }

        func add(_ token: String?, _ error: (any Error)?) {
            let own = error as? AppCheckError
            entries.withLock { $0.append((token, own, error != nil && own == nil)) }
        }
    }

    private func tokens(_ backend: FakeService) throws -> FleetEngineTokens {
        let scene = try ClientScene()
        var options = AppCheckOptions(transport: backend, storage: MemoryStorage())
        options.clock = scene.clock
        return try FleetEngineTokens(
            appCheck: scene.appCheck, endpoint: "https://fleet.example.com", options: options
        ) { "user-jwt" }
    }

    private static func answer(_ request: ClientRequest) -> ClientResponse {
        .json(200, ["jwt": .string("jwt-of-\(request.url.split(separator: "/").last ?? "")"), "expires_in": 3600])
    }

    @Test(
        "the handler gets the token of what the SDK names",
        arguments: [
            (FleetEngineContext.vehicle("vehicle-7"), "/token/driver/vehicle-7", "jwt-of-vehicle-7"),
            (.deliveryVehicle("van-1"), "/token/delivery_driver/van-1", "jwt-of-van-1"),
            (.trip("trip-1"), "/token/consumer/trip-1", "jwt-of-trip-1"),
        ])
    func token(context: FleetEngineContext, path: String, text: String) async throws {
        let backend = FakeService(Self.answer)
        let (tokens, calls) = (try tokens(backend), Calls())
        tokens.fetchToken(for: context) { calls.add($0, $1) }
        try await eventually("the handler is called") { !calls.all.isEmpty }
        #expect(calls.all.first?.token == text)
        #expect(calls.all.first?.error == nil)
        #expect(backend.requests.map(\.url) == ["https://fleet.example.com\(path)"])
    }

    @Test("an SDK that names nothing, or no identifier, gets an error and not another one's token")
    func noContext() async throws {
        let backend = FakeService(Self.answer)
        let (tokens, calls) = (try tokens(backend), Calls())
        tokens.fetchToken(for: nil) { calls.add($0, $1) }
        tokens.fetchToken(for: .vehicle("")) { calls.add($0, $1) }
        tokens.fetchToken(for: .vehicle("../1")) { calls.add($0, $1) }
        try await eventually("the handlers are called") { calls.all.count == 3 }
        #expect(calls.all.allSatisfy { $0.token == nil && $0.error?.code == .invalidConfiguration })
        #expect(backend.requests.isEmpty)
    }

    @Test("a refusal arrives as the library's own error, with the decision")
    func refusal() async throws {
        let backend = FakeService { _ in .error(403, "PERMISSION_DENIED", decision: "01KBH5DECISION") }
        let (tokens, calls) = (try tokens(backend), Calls())
        tokens.fetchToken(for: .trip("trip-1")) { calls.add($0, $1) }
        try await eventually("the handler is called") { !calls.all.isEmpty }
        #expect(calls.all.first?.token == nil)
        #expect(calls.all.first?.error?.code == .refused)
        #expect(calls.all.first?.error?.decision == "01KBH5DECISION")
    }

    @Test("each of many handlers is called once, and all share one request")
    func crowd() async throws {
        let gate = Gate()
        let backend = FakeService { request in
            await gate.pass()
            return Self.answer(request)
        }
        let (tokens, calls) = (try tokens(backend), Calls())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { tokens.fetchToken(for: .vehicle("vehicle-7")) { calls.add($0, $1) } }
            }
        }
        try await eventually("the request is sent") { gate.count == 1 }
        #expect(calls.all.isEmpty)
        gate.open()
        try await eventually("all handlers are called") { calls.all.count >= 200 }
        // None is called twice.
        try await Task.sleep(for: .milliseconds(50))
        #expect(calls.all.count == 200)
        #expect(calls.all.allSatisfy { $0.token == "jwt-of-vehicle-7" && !$0.isOther })
        #expect(backend.requests.count == 1)
    }
}
