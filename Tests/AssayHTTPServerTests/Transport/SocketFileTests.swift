import AssayCore
import AssayKit
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import AssayHTTPServer

@Suite("Files of Unix sockets")
struct SocketFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)").path

    @Test("one that a server left behind makes way")
    func stale() async throws {
        let channel = try await server()
        // The server removes what has this name when it ends.
        rename(path, "\(path).old")
        try await channel.close()
        rename("\(path).old", path)
        #expect(exists)
        SocketFile.makeWay(path)
        #expect(!exists)
    }

    @Test("one that is listened on stays")
    func live() async throws {
        let channel = try await server()
        SocketFile.makeWay(path)
        #expect(exists)
        try await channel.close()
    }

    @Test("what is no socket stays")
    func file() throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: path))
        SocketFile.makeWay(path)
        #expect(exists)
        unlink(path)
    }

    @Test(
        "its file has the mode that it is to have, whatever files are made with otherwise",
        arguments: [0o600, 0o660, 0o777])
    func mode(mode: UInt16) throws {
        let bound = try SocketFile.bind(path, mode: mode)
        defer { close(bound.descriptor) }
        #expect(try SocketFileTests.mode(of: path) == Int(mode))
        // Until it is listened on, nobody can connect.
        #expect(!isAnswered)
        #expect(listen(bound.descriptor, 1) == 0)
        #expect(isAnswered)
        bound.removeFile()
        #expect(!exists)
    }

    @Test("what has taken its place is not removed")
    func replaced() throws {
        let bound = try SocketFile.bind(path, mode: 0o600)
        defer { close(bound.descriptor) }
        unlink(path)
        let other = try SocketFile.bind(path, mode: 0o600)
        bound.removeFile()
        #expect(exists)
        other.removeFile()
        #expect(!exists)
        close(other.descriptor)
    }

    @Test("what is there already stays, and so does a path that is too long")
    func taken() throws {
        let bound = try SocketFile.bind(path, mode: 0o600)
        #expect(throws: IOError.self) { try SocketFile.bind(path, mode: 0o666) }
        #expect(try SocketFileTests.mode(of: path) == 0o600)
        #expect(throws: IOError.self) { try SocketFile.bind(String(repeating: "a", count: 108), mode: 0o600) }
        bound.removeFile()
        close(bound.descriptor)
    }

    static func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Whether a connection can be made.
    private var isAnswered: Bool {
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: path) }

    private func server() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(unixDomainSocketPath: path).get()
    }
}
