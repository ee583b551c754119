import AssayTesting
import AssayTestingHTTP
import NIOCore
import NIOPosix
import Testing

@Suite("LocalServer")
struct LocalServerTests {
    @Test("It returns what its body returns, also if it is cancelled and the body ends later than the socket")
    func cancelled() async throws {
        let server = LocalServer { _ in .hangUp }
        let (started, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await server.run { port in
                start.finish()
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
                // A sleep would end at once in a task that is cancelled.
                await Task { try? await Task.sleep(for: .milliseconds(50)) }.value
                return port
            }
        }
        for await _ in started {}
        task.cancel()
        #expect(try await task.value > 0)
    }

    @Test("An error of its body is the error of the call")
    func fails() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await LocalServer { _ in .hangUp }.run { _ in throw Failure() }
        }
    }

    @Test("Connections that come while it ends are closed, and do no harm")
    func lateConnections() async throws {
        for _ in 0..<50 {
            let connections = try await LocalServer { _ in .hangUp }.run { port in
                let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                return (0..<20).map { _ in bootstrap.connect(host: "127.0.0.1", port: port) }
            }
            for connection in connections {
                // A connection that the system had not accepted yet is refused.
                guard let channel = try? await connection.get() else { continue }
                try? await channel.closeFuture.get()
                #expect(!channel.isActive)
            }
        }
    }
}
