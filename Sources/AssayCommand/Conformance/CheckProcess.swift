internal import AssayCore
internal import AssayEngine
internal import AssayKit

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Another process of this program, in which checks are made: it prints a report with one line for each check.
enum CheckProcess {
    struct CannotStart: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes checks in this process, and prints what they find.
    ///
    /// - Parameter checks: which; nil for a suite that is made as a whole.
    static func serve(
        _ index: Int, of suites: [any ConformanceSuite], _ effort: ConformanceEffort, checks: [String]?
    ) async throws {
        guard suites.indices.contains(index) else { throw CannotStart(description: "no suite has the number \(index)") }
        let suite = suites[index]
        // A plugin may block all threads that tasks have.
        let executor = CallExecutor(WorkerThreads(count: 1, waiting: .max / 2)) { _ in }
        await Task(executorPreference: executor) {
            if let checks, let separable = suite as? any SeparableSuite {
                let report = await separable.report(effort, of: checks) { line in
                    say(ConformanceReport(suite.kind, suite.name, version: "", effort: effort, lines: [line]))
                }
                // The version is known at the end only.
                say(ConformanceReport(suite.kind, suite.name, version: report.version, effort: effort, lines: []))
            } else {
                say(await suite.report(effort))
            }
            // What hangs is left behind.
            exit(0)
        }.value
    }

    private static func say(_ report: ConformanceReport) {
        let line = report.json.encoded + [UInt8(ascii: "\n")]
        _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    /// Starts a process and waits for its end.
    ///
    /// - Parameter silence: how long it may print nothing; then it is ended.
    /// - Returns: the lines that it printed, and how it ended, in words.
    static func run(_ arguments: [String], silence: Duration?) throws(CannotStart) -> (lines: [[UInt8]], end: String) {
        let (pid, output) = try start(arguments)
        defer { close(output) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var last = ContinuousClock.now
        var isSilent = false
        while true {
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, 200)
            if ready > 0 {
                let count = read(output, &buffer, buffer.count)
                if count > 0 {
                    bytes += buffer.prefix(count)
                    last = .now
                } else if count == 0 || errno != EINTR {
                    break
                }
            } else if let silence, ContinuousClock.now - last >= silence {
                isSilent = true
                kill(pid, SIGKILL)
                break
            }
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        return (
            lines,
            isSilent ? "hangs: its process said nothing for \(silence?.components.seconds ?? 0) seconds" : words(status)
        )
    }

    private static func words(_ status: Int32) -> String {
        let signal = status & 0x7f
        guard signal == 0 else {
            return "ended its process: signal \(signal), \(String(cString: strsignal(signal)))"
        }
        return "ended its process: exit status \((status >> 8) & 0xff)"
    }

    private static func start(_ arguments: [String]) throws(CannotStart) -> (pid: pid_t, output: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let program = "/proc/self/exe"
        var actions = posix_spawn_file_actions_t()
        #else
        let program = CommandLine.arguments.first ?? ""
        var actions: posix_spawn_file_actions_t?
        #endif
        // The other process has it from its beginning: suites look at it when they are made.
        setenv("ASSAY_CONFORMANCE_ALONE", "1", 1)
        guard pipe(&ends) == 0 else { throw CannotStart(description: String(cString: strerror(errno))) }
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        var pid: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] =
            ([CommandLine.arguments.first ?? program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let code = posix_spawn(&pid, program, &actions, nil, &words, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw CannotStart(description: "\(program): \(String(cString: strerror(code)))")
        }
        return (pid, ends[0])
    }
}
