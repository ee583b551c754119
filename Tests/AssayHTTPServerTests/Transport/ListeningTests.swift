import AssayCore
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import AssayHTTPServer

/// An operator whose server does not start learns from one line what is in the way.
@Suite("Listening at an address")
struct ListeningTests {
    private typealias Listening = NIOAsyncChannel<Void, Never>

    private func listen(at address: ListenerAddress) async throws -> (channel: any Channel, address: ListenerAddress) {
        let (listening, real) = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .listen(at: address, backlog: 8) { channel in channel.eventLoop.makeSucceededVoidFuture() }
        return (listening.channel, real)
    }

    private func failure(at address: ListenerAddress) async -> String {
        do {
            let listening = try await listen(at: address)
            try await listening.channel.close()
            return "it listens on \(listening.address)"
        } catch {
            return "\(error)"
        }
    }

    /// A path in a folder of its own.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("a\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("s").path)
    }

    @Test(
        "Where any free port is asked for, the address names the one that was found", arguments: ["127.0.0.1"])
    func freePort(_ host: String) async throws {
        let listening = try await listen(at: .host(host, port: 0))
        let port = try #require(listening.address.port)
        #expect(port > 0)
        #expect(listening.address.description == (host == "::1" ? "[::1]:\(port)" : "127.0.0.1:\(port)"))
        let other = try await listen(at: .host(host, port: 0))
        #expect(other.address.port != port)
        try await listening.channel.close()
        try await other.channel.close()
    }

    @Test("A port that is taken is named with what the system says, and is free again after its listener's end")
    func takenPort() async throws {
        let first = try await listen(at: .host("127.0.0.1", port: 0))
        let port = try #require(first.address.port)
        #expect(
            await failure(at: .host("127.0.0.1", port: port))
                == "cannot listen on 127.0.0.1, port \(port): Address already in use; stop the program that uses it, or choose "
                + "another one")
        try await first.channel.close()
        let again = try await listen(at: .host("127.0.0.1", port: port))
        #expect(again.address.port == port)
        try await again.channel.close()
    }

    @Test("An address of another machine is refused by its name")
    func foreignAddress() async {
        #expect(
            await failure(at: .host("192.0.2.1", port: 0))
                == "cannot listen on 192.0.2.1, port 0: Cannot assign requested address")
    }

    @Test("A name without an address is refused in words of its own")
    func unknownName() async {
        #expect(
            await failure(at: .host("host.invalid", port: 80))
                == "cannot listen on host.invalid, port 80: no address of this machine has this name")
    }

    @Test("A peer with IPv4 has its IPv4 address, also at a listener for IPv6", arguments: ["127.0.0.1", "::"])
    func peerAddress(_ host: String) async throws {
        let peers = AsyncStream.makeStream(of: String?.self)
        let (listening, address) = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .listen(at: .host(host, port: 0), backlog: 8) { channel in
                peers.continuation.yield(channel.peerAddress)
                return channel.close()
            }
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: try #require(address.port)).get()
        var seen = peers.stream.makeAsyncIterator()
        #expect(await seen.next() == "127.0.0.1")
        try? await client.close()
        try await listening.channel.close()
    }

    @Test("The file of a socket is there with its mode while it is listened on, and gone afterwards")
    func socketFile() async throws {
        try await withPath { path in
            let listening = try await listen(at: .unixSocket(path, mode: 0o660))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o660)
            #expect(listening.address.description == "unix:\(path)")
            #expect(listening.address.port == nil)
            let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path).get()
            try await client.close()
            try await listening.channel.close()
            // The file goes after the channel has said that it is closed.
            for _ in 0..<3000 where FileManager.default.fileExists(atPath: path) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("A socket that another server listens on stays that server's")
    func takenSocket() async throws {
        try await withPath { path in
            let first = try await listen(at: .unixSocket(path))
            #expect(
                await failure(at: .unixSocket(path)).hasPrefix("cannot listen on unix:\(path): "))
            let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path).get()
            try await client.close()
            try await first.channel.close()
        }
    }

    @Test("A file that is no socket, and a folder that is not there, are errors with the path")
    func noSocket() async throws {
        try await withPath { path in
            try Data("text".utf8).write(to: URL(fileURLWithPath: path))
            #expect(await failure(at: .unixSocket(path)).hasPrefix("cannot listen on unix:\(path): "))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
            let missing = "\(path).d/s"
            #expect(await failure(at: .unixSocket(missing)).hasPrefix("cannot listen on unix:\(missing): "))
        }
    }

    @Test("Without a socket of systemd, the error says that none was passed", arguments: [nil, "http"])
    func systemd(_ name: String?) async {
        #expect(
            await failure(at: .systemd(name: name))
                == "cannot listen on systemd:\(name ?? ""): systemd passed no socket to this process")
    }
}
