import AssayCore
import AssayTestSupport
import Foundation
import Synchronization

@testable import AssayPostgres

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server of PostgreSQL in a temporary folder, on a port of loopback that the system chose.
///
/// It ends with the process of the tests, however that ends: it is started by a shell that waits for its input to end.
/// It is `@unchecked` because the shell is used by one test at a time.
final class PostgresServer: @unchecked Sendable {
    /// Where Debian's packages put the programs of a server.
    static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).filter { $0 >= 14 }.sorted().map { "\(root)/\($0)/bin" }
            .last { FileManager.default.isExecutableFile(atPath: "\($0)/postgres") }
    }()

    /// One for all tests that do not stop it.
    static let shared = Result { try PostgresServer() }

    let folder: String
    let port: UInt16
    private var shell: (process: ChildProcess, input: Pipe)?
    private let schemas = Atomic(0)

    /// Makes a server, and starts it.
    ///
    /// - Parameters:
    ///   - parent: in which folder its own is.
    ///   - segment: the size of a file of its log, in MiB.
    ///   - primary: the server that it is a standby of; nil for one of its own.
    init(
        in parent: String = FileManager.default.temporaryDirectory.path, segment: Int = 16,
        following primary: PostgresServer? = nil
    ) throws {
        guard let programs = Self.programs else { throw Failure("postgresql-15 is not installed") }
        folder = "\(parent)/assay-pg-\(UUID().uuidString)"
        port = try Self.freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try give(folder)
        if let primary {
            try Self.run(
                "\(Self.asUser) \(programs)/pg_basebackup -D '\(folder)/data' -d 'host=127.0.0.1 port=\(primary.port) "
                    + "user=postgres' --write-recovery-conf --checkpoint=fast --no-sync > '\(folder)/backup.log' 2>&1")
        } else {
            try Self.run(
                "\(Self.asUser) \(programs)/initdb -D '\(folder)/data' -A trust -U postgres --no-instructions --no-sync "
                    + "--locale=C -E UTF8 --wal-segsize=\(segment) > '\(folder)/initdb.log' 2>&1")
            let rules = """
                host all guarded 127.0.0.1/32 scram-sha-256
                host all,replication all 127.0.0.1/32 trust
                """
            try Data(rules.utf8).write(to: URL(fileURLWithPath: "\(folder)/data/pg_hba.conf"))
            try give("\(folder)/data/pg_hba.conf")
        }
        try start()
    }

    /// Gives a file to the user as whom the server runs.
    func give(_ path: String) throws {
        if geteuid() == 0 { try Self.run("chown postgres '\(path)'") }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// PostgreSQL does not run as root.
    private static var asUser: String {
        geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
    }

    /// Starts it, and waits until it answers.
    func start(_ options: String...) throws {
        guard let programs = Self.programs else { return }
        let standard = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=", "max_connections=400",
        ]
        let settings = (standard + options).map { "-c \($0)" }.joined(separator: " ")
        let process = ChildProcess()
        let input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            \(Self.asUser) \(programs)/postgres -D '\(folder)/data' \(settings) >> '\(folder)/log' 2>&1 &
            cat > /dev/null
            kill -QUIT $! 2> /dev/null
            wait
            [ -e '\(folder)/restarts' ] || rm -rf '\(folder)'
            """,
        ]
        process.standardInput = input
        try process.run()
        shell = (process, input)
        try? FileManager.default.removeItem(atPath: "\(folder)/restarts")
        let end = ContinuousClock.now + .seconds(20)
        while true {
            do {
                return try sql("SELECT 1")
            } catch {
                guard ContinuousClock.now < end else { throw error }
                usleep(20_000)
            }
        }
    }

    /// What a loss of power does to its processes; the files stay as they are.
    func kill() {
        end(SIGKILL)
    }

    /// Ends it as an administrator does: transactions are rolled back, and clients are told.
    func stop() {
        end(SIGINT)
    }

    private func end(_ number: CInt) {
        guard shell != nil else { return }
        _ = FileManager.default.createFile(atPath: "\(folder)/restarts", contents: nil)
        if let id = processID {
            _ = Self.signal(id, number)
            let end = ContinuousClock.now + .seconds(20)
            while number != SIGKILL, Self.signal(id, 0), ContinuousClock.now < end { usleep(10_000) }
        }
        try? shell?.input.fileHandleForWriting.close()
        shell?.process.waitUntilExit()
        shell = nil
        // The children notice that their parent is gone; a new server waits for them.
        usleep(100_000)
    }

    /// Has a standby take over, and waits until it has.
    func promote() throws {
        guard let programs = Self.programs else { return }
        try Self.run("\(Self.asUser) \(programs)/pg_ctl promote -D '\(folder)/data' -w -t 30 > /dev/null")
    }

    private var processID: pid_t? {
        let text = try? String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    static func signal(_ id: pid_t, _ number: CInt) -> Bool {
        #if canImport(Darwin)
        Darwin.kill(id, number) == 0
        #elseif canImport(Musl)
        Musl.kill(id, number) == 0
        #else
        Glibc.kill(id, number) == 0
        #endif
    }

    func url(user: String = "postgres", port: UInt16? = nil, options: String) -> String {
        "//\(user)@127.0.0.1:\(port ?? self.port)/postgres#\(options)"
    }

    /// A schema that no test has used.
    func newSchema() -> String { "s\(schemas.add(1, ordering: .relaxed).newValue)" }

    /// Runs statements, one after the other, as the superuser.
    func sql(_ statements: String..., user: String = "postgres") throws {
        for statement in statements { _ = try table(statement, user: user) }
    }

    func table(_ statement: String, user: String = "postgres") throws -> Table {
        let settings = try ConnectionSettings(PostgresLocation(url(user: user, options: "pool=1")))
        let db = try Connection(settings, timeout: 5)
        return try db.run(Step(Statement("s", [], statement)), until: .now + .seconds(600))
    }

    func integer(_ statement: String) throws -> Int64? { try table(statement).single().optionalInteger(0) }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Runs a command of the shell to its end.
    static func run(_ command: String) throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("failed: \(command)") }
    }

    static func freePort() throws -> UInt16 {
        let listener = try Listener()
        defer { listener.close() }
        return listener.port
    }
}

/// A listening socket of loopback.
struct Listener: Sendable {
    let descriptor: CInt
    let port: UInt16

    /// - Parameter descriptor: a socket that is only to be closed.
    init(descriptor: CInt) {
        self.descriptor = descriptor
        port = 0
    }

    init() throws {
        #if canImport(Glibc)
        let stream = CInt(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard found else { throw PostgresServer.Failure("no port is free") }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    func close() {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #else
        _ = Glibc.close(descriptor)
        #endif
    }
}
