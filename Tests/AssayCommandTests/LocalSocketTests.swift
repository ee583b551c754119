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

/// Makes two sockets that listen, as systemd does, and becomes the server that gets them.
private let activation = [
    "/usr/bin/perl", "-MSocket", "-e",
    """
    $^F = 9; my @s;
    for (0, 1) { socket($s[$_], PF_INET, SOCK_STREAM, 0); bind($s[$_], sockaddr_in(0, INADDR_LOOPBACK)); listen($s[$_], 8); }
    die "not at 3" unless fileno($s[0]) == 3 && fileno($s[1]) == 4;
    $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 2; $ENV{LISTEN_FDNAMES} = "other:api";
    my ($port) = sockaddr_in(getsockname($s[1])); print STDERR "port $port\\n";
    exec @ARGV;
    """,
]

@Suite("Sockets of this machine and of systemd", .timeLimit(.minutes(10)))
struct LocalSocketTests {
    /// A server that has said where it listens, in a folder with policies.
    private struct Server {
        let process: AssayProcess
        let line: String

        init(_ folder: URL, _ listen: String, _ more: [String] = [], launcher: [String] = []) async throws {
            try? AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            let process = try AssayProcess(
                ["serve", "--state", "memory", "--keys", "keys", "--listen", listen] + more, folder: folder,
                launcher: launcher)
            self.process = process
            line = try await patiently("starting") {
                guard process.process.isRunning else {
                    throw RawSocket.Failure(saying: "the server has ended: \(process.errorsSoFar)")
                }
                return process.outputSoFar.contains("\n") ? process.outputSoFar : nil
            }
        }

        func end(_ signal: Int32 = SIGTERM) async -> AssayProcess.Result {
            kill(process.process.processIdentifier, signal)
            return await process.result()
        }
    }

    private func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("a Unix socket is for the server's own user unless said otherwise, and its file is gone at the end")
    func unixSocket() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a.sock").path
            for (arguments, expected) in [([], 0o600), (["--socket-mode", "0660"], 0o660)] {
                let server = try await Server(folder, "unix:\(path)", arguments)
                #expect(server.line == "assay listens on unix:\(path)\n")
                #expect(mode(path) == expected)
                #expect(try UnixSocket.ask(path, AssayServer.get("/livez")).hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(await server.end().status == 0)
                #expect(mode(path) == nil)
            }
        }
    }

    @Test("the file of a server that was killed is replaced, and that of one that lives is not")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a.sock").path
            let killed = try await Server(folder, "unix:\(path)")
            _ = await killed.end(SIGKILL)
            #expect(mode(path) != nil)
            let living = try await Server(folder, "unix:\(path)")
            let second = try AssayProcess(
                ["serve", "--state", "memory", "--keys", "keys", "--listen", "unix:\(path)"], folder: folder)
            let result = await second.result()
            #expect(result.status == 2)
            #expect(result.errors.contains("cannot listen on unix:\(path): "))
            #expect(try UnixSocket.ask(path, AssayServer.get("/livez")).hasPrefix("HTTP/1.1 200 OK\r\n"))
            _ = await living.end()
        }
    }

    @Test("who connects through a Unix socket has no address, and forwards one only where that is trusted")
    func peer() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a.sock").path
            for arguments in [[], ["--trusted-proxy", "unix"]] {
                let server = try await Server(folder, "unix:\(path)", arguments)
                let reply = try UnixSocket.ask(
                    path, "GET /nothing HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n")
                #expect(reply.hasPrefix("HTTP/1.1 404 "))
                let log = await server.end().errors
                #expect(log.contains("request refused"))
                #expect(log.contains("peer=192.0.2.7") == !arguments.isEmpty)
                #expect(log.contains("peer=") == !arguments.isEmpty)
            }
        }
    }

    @Test("a socket that systemd listens on is taken by its name")
    func systemd() async throws {
        try await withTemporaryFolder { folder in
            let server = try await Server(folder, "systemd:api", launcher: activation)
            let word = try #require(
                server.process.errorsSoFar.split(separator: "\n").first { $0.hasPrefix("port ") }?.dropFirst(5))
            #expect(server.line == "assay listens on http://127.0.0.1:\(word)\n")
            let socket = try RawSocket(port: try #require(Int(word)))
            try await socket.sendAll(AssayServer.get("/livez"))
            #expect(try await socket.reply()?.status == 200)
            #expect(await server.end().status == 0)
        }
    }

    @Test(
        "without that socket the server does not start, and says what there is",
        arguments: [
            ("systemd:", activation, "other, api"), ("systemd:nothing", activation, "other, api"),
            ("systemd:", [], "systemd passed no socket to this process"),
        ])
    func missing(listen: String, launcher: [String], words: String) async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let process = try AssayProcess(
                ["serve", "--state", "memory", "--keys", "keys", "--listen", listen], folder: folder,
                launcher: launcher)
            let result = await process.result()
            #expect(result.status == 2)
            #expect(result.errors.contains("cannot listen on \(listen): "))
            #expect(result.errors.contains(words))
        }
    }
}

/// A connection to a Unix socket that asks once.
private enum UnixSocket {
    static func ask(_ path: String, _ request: String) throws -> String {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw RawSocket.Failure("socket") }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let outcome = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard outcome == 0 else { throw RawSocket.Failure("connect") }
        // The client says that nothing more comes, and so the server closes behind its reply.
        guard write(descriptor, request, request.utf8.count) == request.utf8.count else {
            throw RawSocket.Failure("write")
        }
        shutdown(descriptor, Int32(SHUT_WR))
        var reply: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { reply += piece.prefix(count) }
        return String(decoding: reply, as: UTF8.self)
    }
}
