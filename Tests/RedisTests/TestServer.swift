import AssayCore
import AssayTestSupport
@testable import AssayRedis
import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#endif

/// A server in a folder of its own, which ends with the object.
///
/// It listens at a socket file, and at a port if asked.
final class TestServer: Sendable {
    let folder: String
    let program: ServerProgram
    let port: Int
    private let arguments: [String]
    private let process = Mutex<ChildProcess?>(nil)

    /// What makes every acknowledged write durable.
    static let durable = ["--appendonly", "yes", "--appendfsync", "always"]

    /// - Parameters:
    ///   - arguments: settings in addition to the folder and the socket.
    ///   - port: 0 for the socket only.
    ///   - onDisk: whether it writes to a disk, whose speed is then part of what is tested.
    init(
        _ program: ServerProgram, _ arguments: [String] = TestServer.durable, port: Int = 0, onDisk: Bool = false
    ) throws {
        self.program = program
        self.arguments = arguments
        self.port = port
        // In memory, where that is.
        let hasMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
        let memory = hasMemory && !onDisk ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        folder = "\(memory)/assay-redis-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var socket: String { "\(folder)/s" }
    /// Under the prefix of a test.
    func location(_ options: String...) -> String {
        // Many tests run at once, and a server may have to wait for its turn.
        let patience = options.contains { $0.hasPrefix("timeout=") } ? [] : ["timeout=20000"]
        return "//\(socket)#" + (options + patience).joined(separator: "&")
    }

    func start() throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments =
            ["--port", "\(port)", "--unixsocket", socket, "--dir", folder, "--save", "", "--bind", "127.0.0.1"]
            + arguments
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/null")
        process.standardError = FileHandle(forWritingAtPath: "/dev/null")
        try process.run()
        self.process.withLock { $0 = process }
        let end = ContinuousClock.now + .seconds(30)
        while !isListening {
            guard ContinuousClock.now < end else { throw NotStarted() }
            usleep(5000)
        }
    }

    struct NotStarted: Error {}

    private var isListening: Bool {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// `kill -9`, or another signal.
    func kill(_ signal: Int32 = SIGKILL) {
        process.withLock { process in
            guard let process, process.isRunning else { return }
            _ = Glibc.kill(process.processIdentifier, signal)
            if signal == SIGKILL {
                _ = Glibc.kill(process.processIdentifier, SIGCONT)
                process.waitUntilExit()
            }
        }
        if signal == SIGKILL { unlink(socket) }
    }

    /// Removes what the server has kept, while it does not run.
    func forget() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    /// What a command answers.
    @discardableResult
    func ask(_ words: String...) throws -> String {
        let client = ChildProcess()
        client.executableURL = URL(fileURLWithPath: program.cli)
        client.arguments = ["-s", socket] + words
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        try client.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        client.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// A port that was free a moment ago.
    static func freePort() -> Int {
        // Its cluster bus has the port plus 10 000.
        for _ in 0..<200 {
            let port = Int.random(in: 20_000...30_000)
            if isFree(port), isFree(port + 10_000) { return port }
        }
        return 0
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

/// Opens a store as a program does that has other margins than the usual ones.
func open(
    _ location: String, clock: HostClock = .system, margin: Duration = .seconds(3_000_000_000), isSecure: Bool = false,
    secrets: SecretSource = .system
) async throws -> RedisStore {
    try await RedisStore(
        try RedisLocation(location, isSecure: isSecure), clock: clock, margin: margin, secrets: secrets)
}

/// The code of the error that something throws; nil when it throws none of the store's.
func code(_ body: () async throws -> Void) async -> RedisStoreError.Code? {
    await error(body)?.code
}

func error(_ body: () async throws -> Void) async -> RedisStoreError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RedisStoreError
    }
}

/// Waits until something holds, half a minute at most.
func eventually(_ limit: Duration = .seconds(30), _ holds: () async throws -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if (try? await holds()) == true { return true }
        try? await Task.sleep(for: .milliseconds(20))
    }
    return false
}
