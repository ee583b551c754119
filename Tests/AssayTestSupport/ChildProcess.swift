public import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// The headers of glibc show these to C that asks for them.
@_silgen_name("posix_spawn_file_actions_addchdir_np")
private func addChangeOfFolder(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ path: UnsafePointer<CChar>
) -> Int32
#if os(Linux)
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addClosing(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32) -> Int32
#endif

/// A process of another program, started as Foundation's `Process` starts one.
///
/// Foundation's own reads the list of open files into a buffer that it reads beyond: with a thousand open sockets, as tests here have,
/// that ends the tests now and then.
public final class ChildProcess: Sendable {
    /// How a process ended.
    public enum TerminationReason: Sendable {
        case exit
        case uncaughtSignal
    }

    private struct State: Sendable {
        var executableURL: URL?
        var arguments: [String] = []
        var environment: [String: String]?
        var currentDirectoryURL: URL?
        var input: Int32?
        var output: Int32?
        var errors: Int32?
        /// What must stay open until the process is started.
        var open: [any Sendable] = []
        var identifier: pid_t = 0
        /// As waitpid(2) gives it; nil while it runs.
        var status: Int32?
    }

    private let state = Mutex(State())

    /// A process that is not started yet.
    public init() {}

    /// The program.
    public var executableURL: URL? {
        get { state.withLock { $0.executableURL } }
        set { state.withLock { $0.executableURL = newValue } }
    }

    /// Its arguments, without its own name.
    public var arguments: [String]? {
        get { state.withLock { $0.arguments } }
        set { state.withLock { $0.arguments = newValue ?? [] } }
    }

    /// Its environment; nil for that of these tests.
    public var environment: [String: String]? {
        get { state.withLock { $0.environment } }
        set { state.withLock { $0.environment = newValue } }
    }

    /// Where it is started.
    public var currentDirectoryURL: URL? {
        get { state.withLock { $0.currentDirectoryURL } }
        set { state.withLock { $0.currentDirectoryURL = newValue } }
    }

    /// A `FileHandle` or a `Pipe`; nil for that of these tests.
    public var standardInput: Any? {
        get { nil }
        set {
            let (descriptor, open) = Self.descriptor(newValue, isInput: true)
            state.withLock { ($0.input, $0.open) = (descriptor, $0.open + open) }
        }
    }

    /// A `FileHandle` or a `Pipe`; nil for that of these tests.
    public var standardOutput: Any? {
        get { nil }
        set {
            let (descriptor, open) = Self.descriptor(newValue, isInput: false)
            state.withLock { ($0.output, $0.open) = (descriptor, $0.open + open) }
        }
    }

    /// A `FileHandle` or a `Pipe`; nil for that of these tests.
    public var standardError: Any? {
        get { nil }
        set {
            let (descriptor, open) = Self.descriptor(newValue, isInput: false)
            state.withLock { ($0.errors, $0.open) = (descriptor, $0.open + open) }
        }
    }

    private static func descriptor(_ value: Any?, isInput: Bool) -> (Int32?, [any Sendable]) {
        switch value {
        case let handle as FileHandle where handle === FileHandle.nullDevice:
            FileHandle(forUpdatingAtPath: "/dev/null").map { ($0.fileDescriptor, [$0]) } ?? (nil, [])
        case let handle as FileHandle: (handle.fileDescriptor, [handle])
        case let pipe as Pipe:
            ((isInput ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor, [pipe])
        default: (nil, [])
        }
    }

    /// Starts it.
    public func run() throws {
        var state = state.withLock { $0 }
        guard let path = state.executableURL?.path else { throw POSIXError(.ENOENT) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Copies first: one of the three may have the number of another.
        let wanted = [(state.input, Int32(0)), (state.output, 1), (state.errors, 2)]
        var copies: [Int32] = []
        defer { copies.forEach { close($0) } }
        for (descriptor, target) in wanted {
            guard let descriptor else { continue }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw POSIXError(.EBADF) }
            copies.append(copy)
            posix_spawn_file_actions_adddup2(&actions, copy, target)
        }
        if let folder = state.currentDirectoryURL?.path { _ = addChangeOfFolder(&actions, folder) }
        #if os(Linux)
        _ = addClosing(&actions, 3)
        #endif
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // In a group of its own, so that a signal to that of the tests does not reach it.
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var arguments = ([path] + state.arguments).map { strdup($0) } + [nil]
        let variables = state.environment ?? ProcessInfo.processInfo.environment
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        let failure = posix_spawn(&state.identifier, path, &actions, &attributes, &arguments, &environment)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        for case let pipe as Pipe in state.open {
            // The end that the process has.
            for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting]
            where [state.input, state.output, state.errors].contains(handle.fileDescriptor) {
                try? handle.close()
            }
        }
        let identifier = state.identifier
        self.state.withLock {
            $0.identifier = identifier
            $0.open = []
        }
    }

    /// The number of the process.
    public var processIdentifier: Int32 { state.withLock { $0.identifier } }

    /// Whether it has not ended.
    public var isRunning: Bool { status(WNOHANG) == nil }

    /// Waits for its end.
    public func waitUntilExit() {
        while status(WNOHANG) == nil { usleep(5_000) }
    }

    /// The exit status, or the signal that ended it.
    public var terminationStatus: Int32 {
        guard let status = status(WNOHANG) else { return -1 }
        return Self.signal(status) == 0 ? (status >> 8) & 0xFF : Self.signal(status)
    }

    /// What ended it.
    public var terminationReason: TerminationReason {
        status(WNOHANG).map { Self.signal($0) == 0 ? .exit : .uncaughtSignal } ?? .exit
    }

    /// Sends SIGTERM.
    public func terminate() {
        state.withLock { state in
            if state.status == nil, state.identifier > 0 { kill(state.identifier, SIGTERM) }
        }
    }

    private static func signal(_ status: Int32) -> Int32 { status & 0x7F }

    private func status(_ options: Int32) -> Int32? {
        state.withLock { state in
            if let status = state.status { return status }
            guard state.identifier > 0 else { return nil }
            var status: Int32 = 0
            guard waitpid(state.identifier, &status, options) == state.identifier else { return nil }
            state.status = status
            return status
        }
    }
}
