import Foundation
import Logging
import Testing

@testable import AssayServer

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("What systemd is told")
struct SystemdStateTests {
    private func messages(_ listeners: Int, _ events: [SystemdState.Event]) -> [String?] {
        var state = SystemdState(listeners: listeners)
        return events.map { state.take($0) }
    }

    @Test("A server is ready when the last of its listeners listens, and says so once", arguments: 1...3)
    func ready(_ listeners: Int) {
        let said = messages(listeners, Array(repeating: .listening, count: listeners + 2))
        #expect(said.firstIndex(of: "READY=1\nSTATUS=Serving") == listeners - 1)
        #expect(said.compactMap(\.self).count == 1)
    }

    @Test("A reload has a beginning with its time and an end that says what is in force")
    func reload() {
        #expect(
            messages(
                1,
                [
                    .listening, .reloading(at: 7), .reloaded(isApplied: false), .reloading(at: 8),
                    .reloaded(isApplied: true),
                ]) == [
                    "READY=1\nSTATUS=Serving", "RELOADING=1\nMONOTONIC_USEC=7\nSTATUS=Reloading",
                    "READY=1\nSTATUS=Serving; the requested reload failed, see the log",
                    "RELOADING=1\nMONOTONIC_USEC=8\nSTATUS=Reloading", "READY=1\nSTATUS=Serving",
                ])
    }

    @Test("A reload before every listener listens does not make the server ready")
    func early() {
        #expect(
            messages(2, [.listening, .reloading(at: 7), .reloaded(isApplied: true), .listening])
                == [nil, nil, nil, "READY=1\nSTATUS=Serving"])
    }

    @Test("Nothing is said after the end has begun")
    func stopping() {
        #expect(
            messages(1, [.stopping, .listening, .reloading(at: 7), .reloaded(isApplied: true), .stopping])
                == ["STOPPING=1\nSTATUS=Finishing requests", nil, nil, nil, nil])
    }

    @Test(
        "Signs of life come twice in the time that systemd waits, from the process that it waits for",
        arguments: [
            (nil, nil, nil), ("30000000", nil, .seconds(15)), ("30000000", "42", .seconds(15)), ("30000000", "43", nil),
            ("30000000", "", nil), ("0", nil, nil), ("-1", nil, nil), ("30s", nil, nil), ("", nil, nil),
            ("1", nil, .milliseconds(10)), ("\(UInt64.max)", nil, .seconds(86_400)), ("\(UInt64.max)0", nil, nil),
        ] as [(String?, String?, Duration?)])
    func watchdog(_ time: String?, _ owner: String?, _ expected: Duration?) {
        #expect(SystemdService.interval({ $0 == "WATCHDOG_USEC" ? time : owner }, process: 42) == expected)
    }

    @Test(
        "Without a socket that can be one, nothing is told",
        arguments: [nil, "", "/", "@", "relative", "vsock:2:1", "/" + String(repeating: "a", count: 107)])
    func noSocket(_ name: String?) {
        let service = SystemdService(
            listeners: 1, environment: { $0 == "NOTIFY_SOCKET" ? name : nil }, logger: Logger(label: "a"))
        #expect(service == nil)
    }
}

@Suite("The socket of systemd", .timeLimit(.minutes(10)))
struct SystemdSocketTests {
    @Test("Messages arrive whole and in order, by a path and by a name without a file", arguments: [false, true])
    func sends(isAbstract: Bool) async throws {
        try await withTemporaryNotifySocket(isAbstract: isAbstract) { receiver, name in
            let socket = try #require(SystemdSocket(name))
            for message in ["READY=1\nSTATUS=Serving", "WATCHDOG=1"] { #expect(await socket.send(message)) }
            #expect(receiver.received() == ["READY=1\nSTATUS=Serving", "WATCHDOG=1"])
        }
    }

    @Test("A message to nobody is given up at once")
    func nobody() async throws {
        let socket = try #require(SystemdSocket("/nonexistent/\(UUID().uuidString)"))
        #expect(await socket.send("READY=1") == false)
    }

    @Test("A message waits for room, and is given up when there is none for long")
    func full() async throws {
        try await withTemporaryNotifySocket(isAbstract: false) { receiver, name in
            let socket = try #require(SystemdSocket(name))
            let text = String(repeating: "a", count: 4000)
            var count = 0
            while count < 10_000, await socket.send(text) { count += 1 }
            #expect((1..<10_000).contains(count))
            async let late = socket.send("READY=1")
            try await Task.sleep(for: .milliseconds(100))
            let first = receiver.received()
            #expect(await late)
            #expect((first + receiver.received()).last == "READY=1")
        }
    }
}
