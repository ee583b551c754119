import Synchronization
import Testing

@testable import AssayClient

@Suite("A crowd of callers", .timeLimit(.minutes(5)))
struct CrowdTests {
    /// Counts what is sent at the same time, and makes tokens that say whether they are for one use.
    private final class Counting: ClientTransport {
        private struct State {
            var now = 0
            var most = 0
            var sent = 0
        }

        private let state = Mutex(State())
        var most: Int { state.withLock { $0.most } }

        func send(_ request: ClientRequest) async throws -> ClientResponse {
            let number = state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.sent += 1
                return state.sent
            }
            for _ in 0..<number % 5 { await Task.yield() }
            state.withLock { $0.now -= 1 }
            if number % 7 == 0 { throw CancellationError() }
            return .token(FakeToken.text(number: number))
        }
    }

    @Test("each caller gets one answer, whoever is cancelled meanwhile, and nothing is sent twice at once")
    func crowd() async throws {
        let transport = Counting()
        var options = AppCheckOptions(transport: transport, storage: MemoryStorage())
        options.notice = { _ in }
        let appCheck = try AppCheck(
            app: FakeToken.app, endpoint: "https://assay.example.com", provider: DebugProvider(debugToken: "a"),
            options: options)
        let listener = Task {
            var count = 0
            for await _ in appCheck.updates { count += 1 }
            return count
        }
        let limited = Notices()
        let answers = Notices()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<900 {
                group.addTask {
                    let caller = Task {
                        do throws(AppCheckError) {
                            if index % 3 == 0 {
                                let token = try await appCheck.limitedUseToken()
                                limited.add(token.text)
                            } else {
                                _ = try await appCheck.token(forcingRefresh: index % 3 == 1)
                            }
                            answers.add("token")
                        } catch {
                            answers.add("\(error.code)")
                        }
                    }
                    if index % 4 == 0 {
                        for _ in 0..<index % 11 { await Task.yield() }
                        caller.cancel()
                    }
                    await caller.value
                }
            }
        }
        listener.cancel()
        #expect(await listener.value > 0)
        let counts = Dictionary(grouping: answers.all) { $0 }.mapValues(\.count)
        #expect(counts.values.reduce(0, +) == 900, "\(counts)")
        #expect(counts["token", default: 0] > 300, "\(counts)")
        #expect(Set(counts.keys).isSubset(of: ["token", "cancelled", "unreachable"]), "\(counts)")
        #expect(transport.most == 1)
        #expect(Set(limited.all).count == limited.all.count)
    }
}
