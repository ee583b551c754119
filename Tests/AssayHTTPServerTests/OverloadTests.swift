import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Foundation
import NIOCore
import NIOSSL
import Synchronization
import Testing

/// More requests than can be answered.
///
/// Each costs milliseconds of a processor, so that a queue forms on any machine.
@Suite("An overloaded server", .timeLimit(.minutes(20)))
struct OverloadTests {
    private static let target = "/v1/projects/1/apps/2:exchangeDebugToken"

    private static var limits: HTTPLimits {
        var limits = HTTPLimits.patient
        limits.queueTime = .milliseconds(1)
        return limits
    }

    private static let handler = FakeHandler { _ in
        let end = ContinuousClock.now + .milliseconds(3)
        while ContinuousClock.now < end {}
        return .success(["token": "t"])
    }

    @Test("It refuses with 503 at once, answers others, and still says that it is alive")
    func http1() async throws {
        let counts = try await TestServer.with(Self.handler, limits: Self.limits) { port, _ in
            let counts = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
                for _ in 0..<48 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            var counts: [Int: Int] = [:]
                            for _ in 0..<40 {
                                try await connection.send(TestServer.post(Self.target, "{}"))
                                let reply = try await connection.reply()
                                counts[reply.status, default: 0] += 1
                                guard reply.status == 503 else { continue }
                                #expect(reply["retry-after"] == "1")
                                let body = String(decoding: reply.body, as: UTF8.self)
                                #expect(body.contains("more requests than it can answer in time"))
                            }
                            return counts
                        }
                    }
                }
                group.addTask {
                    try await RawConnection.with(port: port) { connection in
                        for _ in 0..<40 {
                            try await connection.send(TestServer.get("/livez"))
                            let reply = try await connection.reply()
                            #expect(reply.status == 200)
                        }
                        return [:]
                    }
                }
                var counts: [Int: Int] = [:]
                for try await part in group { counts.merge(part, uniquingKeysWith: +) }
                return counts
            }
            // When it is over, one after the other is answered.
            try await RawConnection.with(port: port) { connection in
                for _ in 0..<20 {
                    try await connection.send(TestServer.post(Self.target, "{}"))
                    let reply = try await connection.reply()
                    #expect(reply.status == 200)
                }
            }
            return counts
        }
        #expect(counts.values.reduce(0, +) == 48 * 40)
        #expect(counts[503] ?? 0 > 0, "\(counts)")
        #expect(counts[200] ?? 0 > 0, "\(counts)")
        #expect(Set(counts.keys) == [200, 503])
    }

    @Test(
        "A client that sends one request after the other is answered beside the flood of another one, over each protocol",
        arguments: [false, true])
    func fair(http2: Bool) async throws {
        let address = "127.0.0.2"
        let identity = try TestIdentity()
        let certificate = try IdentityFiles(identity).open()
        let (flood, honest) = (Replies(), Replies())
        try await TestServer.with(Self.handler, limits: Self.limits, certificate: certificate) { port, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let tls = try identity.clientContext { $0.applicationProtocols = ["http/1.1"] }
                for _ in 0..<32 {
                    group.addTask {
                        try await RawConnection.with(port: port, tls: tls) { connection in
                            while !honest.areEnough {
                                try await connection.send(TestServer.post(Self.target, "{}"))
                                flood.add(try await connection.reply().status)
                            }
                        }
                    }
                }
                while flood.refused < 100 { await Task.yield() }
                if http2 {
                    try await StreamClient.with(port: port, from: address, identity: identity) { client in
                        var stream = 1
                        while !honest.areEnough {
                            try await client.post(stream, Self.target, "{}")
                            honest.add(try await client.reply(stream).status)
                            stream += 2
                        }
                    }
                } else {
                    try await RawConnection.with(port: port, from: address, tls: tls) { connection in
                        while !honest.areEnough {
                            try await connection.send(TestServer.post(Self.target, "{}"))
                            honest.add(try await connection.reply().status)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(2 * honest.share < flood.share, "\(honest.share), \(flood.share)")
    }

    @Test("Replies come in the order of the requests, also where one of many that were sent at once is refused")
    func order() async throws {
        let refused = try await TestServer.with(Self.handler, limits: Self.limits) { port, _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<48 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            var refused = 0
                            for _ in 0..<20 {
                                try await connection.send(
                                    TestServer.post(Self.target, "{}") + TestServer.get("/livez")
                                        + TestServer.get("/nothing"))
                                let replies = [
                                    try await connection.reply(), try await connection.reply(),
                                    try await connection.reply(),
                                ]
                                #expect([200, 503].contains(replies[0].status))
                                #expect(replies[1].status == 200)
                                #expect(String(decoding: replies[1].body, as: UTF8.self).contains("ok"))
                                #expect([404, 503].contains(replies[2].status))
                                refused += replies[0].status == 503 ? 1 : 0
                            }
                            return refused
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        #expect(refused > 0)
    }

    @Test("A client that sends many requests at once does not delay others by all of them")
    func pipelining() async throws {
        // The names of the clients with the threads of their calls, in the order of the calls.
        let calls = Mutex<[(client: String, thread: pthread_t)]>([])
        // The connections of the other clients. The first call sends what they ask, and waits until it was sent: whoever is
        // read on its thread must be answered next, however busy the machine is.
        let others = Connections()
        let handler = FakeHandler { call in
            calls.withLock { $0.append((call.body["debugToken"]?.string ?? "", pthread_self())) }
            let sent = DispatchGroup()
            for other in others.take() {
                sent.enter()
                other.writeAndFlush(ByteBuffer(string: TestServer.post(Self.target, #"{"debugToken":"one"}"#)))
                    .whenComplete { _ in sent.leave() }
            }
            sent.wait()
            let end = ContinuousClock.now + .milliseconds(10)
            while ContinuousClock.now < end {}
            return .success(["token": "t"])
        }
        let (many, few) = (24, ProcessInfo.processInfo.processorCount)
        let isFair = try await TestServer.with(handler) { port, _ in
            // The thread may be without a processor for so long that others answer the rest of the many.
            for _ in 0..<20 {
                calls.withLock { $0 = [] }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // One of them is read on the same thread.
                    for _ in 0..<few {
                        group.addTask {
                            try await RawConnection.with(port: port) { connection in
                                others.add(connection.channel)
                                let reply = try await connection.reply()
                                #expect(reply.status == 200)
                            }
                        }
                    }
                    while others.count < few { try await Task.sleep(for: .milliseconds(1)) }
                    try await RawConnection.with(port: port) { hog in
                        let request = TestServer.post(Self.target, #"{"debugToken":"many"}"#)
                        try await hog.send(String(repeating: request, count: many))
                        for _ in 0..<many { _ = try await hog.reply() }
                    }
                    try await group.waitForAll()
                }
                let order = calls.withLock { $0 }
                let last = order.lastIndex { $0.client == "one" && $0.thread == order[0].thread }
                if let last, last < few + many / 2 { return true }
            }
            return false
        }
        #expect(isFair, "\(calls.withLock { $0 })")
    }

    @Test("A time that nothing can keep is no limit", arguments: [Duration.zero, .milliseconds(-1)])
    func noLimit(_ time: Duration) async throws {
        var limits = HTTPLimits.patient
        limits.queueTime = time
        try await TestServer.with(Self.handler, limits: limits) { port, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<48 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            for _ in 0..<10 {
                                try await connection.send(TestServer.post(Self.target, "{}"))
                                #expect(try await connection.reply().status == 200)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Streams of HTTP/2 are refused one by one, and their connection stays")
    func http2() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let certificate = try files.open()
        try await TestServer.with(Self.handler, limits: Self.limits, certificate: certificate) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                var counts: [Int: Int] = [:]
                // The client's window is not enlarged, and has room for so many replies.
                for round in 0..<8 {
                    let streams = (0..<50).map { 1 + 2 * (50 * round + $0) }
                    for stream in streams { try await client.post(stream, Self.target, "{}") }
                    for stream in streams {
                        let reply = try await client.reply(stream)
                        counts[reply.status, default: 0] += 1
                    }
                }
                #expect(counts[503] ?? 0 > 0, "\(counts)")
                #expect(counts[200] ?? 0 > 0, "\(counts)")
                #expect(client.goAways.isEmpty)
            }
        }
    }
}

/// What came of the requests of some clients.
private final class Replies: Sendable {
    private let counts = Mutex((all: 0, refused: 0))

    var refused: Int { counts.withLock { $0.refused } }
    /// How many of them were refused, from 0 to 1.
    var share: Double { counts.withLock { Double($0.refused) / Double(max($0.all, 1)) } }
    var areEnough: Bool { counts.withLock { $0.all >= 100 } }

    func add(_ status: Int) {
        counts.withLock { counts in
            counts.all += 1
            counts.refused += status == 503 ? 1 : 0
        }
    }
}

/// Connections that wait for something to be sent on them.
private final class Connections: Sendable {
    private let channels = Mutex<[any Channel]>([])

    var count: Int { channels.withLock { $0.count } }

    func add(_ channel: any Channel) {
        channels.withLock { $0.append(channel) }
    }

    func take() -> [any Channel] {
        channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
    }
}
