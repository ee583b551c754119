import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("A server under systemd", .timeLimit(.minutes(10)))
struct SystemdServerTests {
    @Test("It says when all listeners listen, what came of a reload, that it lives, and that it ends")
    func life() async throws {
        try await withTemporaryNotifySocket(isAbstract: true) { systemd, name in
            try await withTemporaryFolder { folder in
                try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
                let server = try await AssayServer(
                    in: folder, arguments: ["--operations", "127.0.0.1:0", "--watch", "never"],
                    environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000"])
                _ = try await systemd.next("ready") { $0 == "READY=1\nSTATUS=Serving" }
                #expect(server.process.errorsSoFar.contains("listening for operators"))
                _ = try await systemd.next("alive") { $0 == "WATCHDOG=1" }

                let policies = folder.appendingPathComponent("policies/policy.yaml")
                let good = try Data(contentsOf: policies)
                for (text, end) in [
                    (Data("projects: 7\n".utf8), "READY=1\nSTATUS=Serving; the requested reload failed, see the log"),
                    (good, "READY=1\nSTATUS=Serving"),
                ] {
                    try text.write(to: policies)
                    let before = now()
                    kill(server.process.process.processIdentifier, SIGHUP)
                    let lines = try await systemd.nextOther().split(separator: "\n")
                    #expect(lines.first == "RELOADING=1" && lines.last == "STATUS=Reloading")
                    let time = lines.dropFirst().first?.split(separator: "=").last.flatMap { UInt64($0) }
                    #expect(
                        (before...now()).contains(try #require(time)), "systemd compares it with that of its signal")
                    #expect(try await systemd.nextOther() == end)
                }
                #expect(try await server.get("/healthz").status == 200)
                kill(server.process.process.processIdentifier, SIGTERM)
                #expect(try await systemd.nextOther() == "STOPPING=1\nSTATUS=Finishing requests")
                #expect(await server.process.result().status == 0)
                #expect(systemd.received().isEmpty)
            }
        }
    }

    @Test("It serves anyway where systemd cannot be told, and says that it could not")
    func unreachable() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let names = [("/nonexistent/a", "systemd could not be notified"), ("a", "systemd cannot be notified")]
            for (name, words) in names {
                let server = try await AssayServer(in: folder, environment: ["NOTIFY_SOCKET": name])
                #expect(try await server.get("/healthz").status == 200)
                let result = await server.end(SIGTERM)
                #expect(result.status == 0)
                #expect(result.errors.contains(words))
            }
        }
    }

    /// The time of CLOCK_MONOTONIC in microseconds.
    private func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
