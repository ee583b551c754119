internal import AssayCore
internal import AssayCrypto
internal import CSpawn
internal import NIOCore
internal import NIOPosix
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A process that we started: alone in its session, with nothing of ours but what it was given.
final class ChildProcess: Sendable {
    /// What is started.
    struct Start: Sendable {
        /// The absolute path and the arguments.
        let command: [String]
        /// The expected digest of the executable; nil when it is not checked.
        let digest: [UInt8]?
        /// The whole environment, as `NAME=VALUE`.
        let environment: [String]
        /// The entry of the environment that no other process is started with: what has it is a descendant.
        let mark: String
        let directory: String
        /// Whom it runs as; nil for ourselves.
        let user: UserAccount?
    }

    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    private let mark: String
    private let end = FirstResult<String>()
    private let isReaped = Mutex(false)

    private init(_ pid: pid_t, mark: String) {
        self.pid = pid
        self.mark = mark
    }

    /// Starts a process, on a thread of its own that waits until it ends: the system kills the process with that thread.
    ///
    /// - Parameter output: gets each line of its standard output and its standard error.
    static func start(
        _ start: Start, output: @escaping @Sendable (String) -> Void
    ) async throws -> ChildProcess {
        let started = FirstResult<ChildProcess>()
        let thread = WorkerThreads(count: 1, waiting: 1)
        let isStarted = thread.start {
            do {
                let (child, reading) = try launch(start)
                OutputLines.read(reading, output)
                started.settle(.success(child))
                child.waitForEnd()
            } catch {
                started.settle(.failure(error))
            }
        }
        guard isStarted else { throw CannotStart(description: "the system starts no more threads") }
        return try await started.value
    }

    /// Waits until the process has ended; returns how.
    func ended() async -> String {
        (try? await end.value) ?? "it ended"
    }

    var hasEnded: Bool { end.present != nil }

    /// Sends a signal to the process and its group.
    func send(_ signal: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { _ = assay_kill(pid, signal) }
        }
    }

    private func waitForEnd() {
        let status = assay_wait(pid)
        // Whatever it started and left behind ends with it, also what it detached.
        send(SIGKILL)
        assay_end_left(pid, mark)
        isReaped.withLock { isReaped in
            _ = assay_kill(pid, SIGKILL)
            assay_reap(pid)
            isReaped = true
        }
        let text =
            status & 0x7F == 0 ? "it ended with status \((status >> 8) & 0xFF)" : "signal \(status & 0x7F) ended it"
        end.settle(.success(text))
    }

    private static func launch(_ start: Start) throws -> (child: ChildProcess, output: CInt) {
        guard let path = start.command.first else { throw CannotStart(description: "the command is empty") }
        let executable = try open(path, start.digest)
        defer { if executable >= 0 { close(executable) } }
        // In bounds: the two ends of a pipe.
        var pipes: [CInt] = [-1, -1]
        guard assay_pipe(&pipes) == 0 else { throw CannotStart(description: String(cString: strerror(errno))) }
        var pid: pid_t = 0
        let groups = start.user?.groups ?? []
        let error = path.withCString { path in
            start.directory.withCString { directory in
                withCStrings(start.command) { arguments in
                    withCStrings(start.environment + [start.mark]) { environment in
                        groups.withUnsafeBufferPointer { groups in
                            var child = assay_child(
                                path: path, executable: executable, arguments: arguments, environment: environment,
                                output: pipes[1], directory: directory, has_user: start.user == nil ? 0 : 1,
                                user: start.user?.user ?? 0, group: start.user?.group ?? 0,
                                groups: groups.baseAddress, group_count: groups.count)
                            return assay_spawn(&child, &pid)
                        }
                    }
                }
            }
        }
        close(pipes[1])
        guard error == 0 else {
            close(pipes[0])
            throw CannotStart(description: "\(path): \(String(cString: strerror(error)))")
        }
        return (ChildProcess(pid, mark: start.mark), pipes[0])
    }

    /// Opens the executable and checks its digest; -1 when there is none to check.
    private static func open(_ path: String, _ digest: [UInt8]?) throws -> CInt {
        guard let digest else { return -1 }
        let file = openFile(path)
        guard file >= 0 else { throw CannotStart(description: "\(path): \(String(cString: strerror(errno)))") }
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                close(file)
                throw CannotStart(description: "\(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            hash.update(buffer.prefix(count))
        }
        guard hash.finalize() == digest else {
            close(file)
            throw CannotStart(description: "\(path): its SHA-256 is not the one that is configured")
        }
        lseek(file, 0, SEEK_SET)
        return file
    }
}

// Inside the type above, the name means its own method.

private func openFile(_ path: String) -> CInt { open(path, O_RDONLY | O_CLOEXEC) }

/// Texts as C's list of strings that ends with NULL.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
) -> Result {
    let copies = texts.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer { body($0.baseAddress) }
}

/// An account of the system.
struct UserAccount: Sendable {
    let user: uid_t
    let group: gid_t
    let groups: [gid_t]

    /// The account with a name; nil when the system has none.
    init?(_ name: String) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        user = entry.pw_uid
        group = entry.pw_gid
        var groups = [gid_t](repeating: 0, count: 256)
        var count = CInt(groups.count)
        groups =
            getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 ? Array(groups.prefix(Int(count))) : [entry.pw_gid]
        self.groups = groups
    }
}
