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
        try await channel.close()
        #expect(exists)
        SocketFile(path: path).makeWay()
        #expect(!exists)
    }

    @Test("one that is listened on stays")
    func live() async throws {
        let channel = try await listen()
        SocketFile(path: path).makeWay()
        #expect(exists)
        try await channel.close()
        unlink(path)
    }

    @Test("what is no socket stays")
    func file() throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: path))
        let file = SocketFile(path: path)
        file.makeWay()
        file.take()
        file.remove()
        #expect(exists)
        unlink(path)
    }

    @Test("another server's file in the place of ours stays")
    func replaced() async throws {
        let ours = try await listen()
        let file = SocketFile(path: path)
        file.take()
        // The number of the old file must not be given to the new one.
        rename(path, "\(path).old")
        let theirs = try await listen()
        file.remove()
        #expect(exists)
        try await ours.close()
        try await theirs.close()
        unlink(path)
        unlink("\(path).old")
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: path) }

    private func listen() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(unixDomainSocketPath: path).get()
    }
}
