import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import AssayExtAuthz

@Suite("Files of Unix sockets")
struct SocketFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)").path

    @Test("one that a server left behind makes way")
    func stale() async throws {
        let channel = try await listen()
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
        let channel = try await listen()
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

    private var exists: Bool { FileManager.default.fileExists(atPath: path) }

    private func listen() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(unixDomainSocketPath: path).get()
    }
}
