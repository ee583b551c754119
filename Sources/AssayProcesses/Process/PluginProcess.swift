internal import AssayCore
internal import AssayKit
internal import Logging
internal import NIOCore
internal import SwiftProtobuf
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The process of one plugin: started or found, called, watched, and started again.
final class PluginProcess: Sendable {
    typealias Description = Assay_Plugin_V1_DescribeResponse
    typealias Section = Assay_Plugin_V1_ConfigureRequest

    /// The version of the contract that is spoken.
    static let version: UInt32 = 1

    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    private enum State {
        case starting
        case ready(PluginConnection)
        case failed(String)
    }

    let settings: PluginSettings
    let host: HostService
    private let logger: Logger
    private let state = Mutex(State.starting)
    /// What the plugin says is wrong with it.
    private let problem = Mutex<String?>(nil)
    private let description = Mutex<Description?>(nil)
    /// What each instance was made from, for the next process.
    private let sections = Mutex<[UInt64: Section]>([:])
    private let lastInstance = Atomic<UInt64>(0)
    private let first = FirstResult<Description>()
    private let runner = Mutex<Task<Void, Never>?>(nil)
    /// The present run of the process.
    private let session = Mutex<ProcessSession?>(nil)

    init(_ settings: PluginSettings, logger: Logger) {
        self.settings = settings
        var logger = logger
        logger[metadataKey: "plugin"] = "\(settings.name)"
        self.logger = logger
        host = HostService(logger: logger)
    }

    // MARK: - Its life

    /// Starts it, and watches it until ``stop()``.
    ///
    /// - Returns: what the plugin is.
    /// - Throws: why it cannot be used; it is ended then.
    func start() async throws -> Description {
        runner.withLock { $0 = Task { await self.run() } }
        do {
            return try await first.value
        } catch {
            await stop()
            throw error
        }
    }

    /// Ends the process, and returns when it has ended.
    func stop() async {
        let task = runner.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Kills the process, and returns when another one is ready.
    ///
    /// - Throws: `Unavailable` when none is ready after a while; `CancellationError`.
    func restart() async throws {
        let killed = session.withLock { session in
            defer { session = nil }
            return session
        }
        killed?.kill()
        let limit = ContinuousClock.now + settings.limits.startTime + .seconds(60)
        while session.withLock({ $0 == nil }) {
            guard ContinuousClock.now < limit else {
                throw Unavailable(description: "no other process is ready: \(failure ?? "it does not end")")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Why the plugin cannot do its work; nil when it can.
    var failure: String? {
        switch state.withLock({ $0 }) {
        case .ready: problem.withLock { $0 }
        case .failed(let reason): reason
        case .starting: "its process is starting"
        }
    }

    private func run() async {
        let backoff = Backoff(first: settings.limits.firstPause, limit: .seconds(30))
        var failures = 0
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let reason: String
            do {
                let session = try await ProcessSession.open(self, logger)
                try await begin(session)
                self.session.withLock { $0 = session }
                reason = await session.watch(settings.limits) { problem in self.problem.withLock { $0 = problem } }
                self.session.withLock { $0 = nil }
                fail(reason)
                await session.end(settings.limits)
            } catch {
                reason = Self.text(error)
                fail(reason)
                first.settle(.failure(Unavailable(description: reason)))
            }
            if Task.isCancelled { break }
            failures = ContinuousClock.now - began > .seconds(60) ? 1 : failures + 1
            guard failures <= settings.limits.restarts else {
                fail("\(reason); it failed \(failures) times in a row, and is not started again")
                logger.error("the process of a plugin is given up", metadata: ["reason": "\(reason)"])
                return
            }
            let pause = backoff.delay(after: failures, randomness: .system)
            logger.warning(
                "the process of a plugin failed, and is started again",
                metadata: ["reason": "\(reason)", "pause": "\(pause)"])
            try? await Task.sleep(for: pause)
        }
    }

    /// Takes a session into use, if the plugin is what it was before.
    private func begin(_ session: ProcessSession) async throws {
        let known = description.withLock { known in
            defer { known = known ?? session.description }
            return known
        }
        if let known, known != session.description {
            await session.end(settings.limits)
            throw Unavailable(
                description: "the plugin is another one than at the start: the server has to be restarted")
        }
        for section in sections.withLock({ Array($0.values) }) {
            let reply: Assay_Plugin_V1_ConfigureResponse
            do {
                reply = try await session.connection.call(
                    "Configure", section, timeLimit: settings.limits.configureTime)
            } catch {
                await session.end(settings.limits)
                throw error
            }
            if let error = reply.errors.first {
                await session.end(settings.limits)
                throw Unavailable(
                    description:
                        "it refuses a section that it had accepted, of \(section.app): \(HostService.line(error.message))"
                )
            }
        }
        state.withLock { $0 = .ready(session.connection) }
        first.settle(.success(session.description))
    }

    private func fail(_ reason: String) {
        state.withLock { $0 = .failed(reason) }
    }

    private static func text(_ error: any Error) -> String {
        HostService.line("\(error)")
    }

    // MARK: - Calls

    /// The connection, if the process runs.
    func connection() throws -> PluginConnection {
        switch state.withLock({ $0 }) {
        case .ready(let connection): return connection
        case .failed(let reason):
            throw Unavailable(description: "the process of the plugin \(settings.name) does not run: \(reason)")
        case .starting:
            throw Unavailable(description: "the process of the plugin \(settings.name) is starting")
        }
    }

    /// Calls a method.
    ///
    /// - Throws: `Unavailable`; `CancellationError`.
    func call<Reply: Message>(
        _ method: String, _ request: some Message, as type: Reply.Type = Reply.self, timeLimit: Duration
    ) async throws -> Reply {
        do {
            return try await connection().call(method, request, as: type, timeLimit: timeLimit)
        } catch let failure as GRPCFailure {
            try Task.checkCancellation()
            throw Unavailable(
                description: "the process of the plugin \(settings.name): \(HostService.line(failure.message))")
        }
    }

    /// Has a section checked, and an instance made from it if `keeps`; blocks the thread.
    ///
    /// - Returns: the reply, and the name of the instance.
    func configure(_ section: Section, keeps: Bool) throws -> (Assay_Plugin_V1_ConfigureResponse, UInt64) {
        var section = section
        section.instance = lastInstance.add(1, ordering: .relaxed).newValue
        let reply: Assay_Plugin_V1_ConfigureResponse
        do {
            reply = try connection().callBlocking(
                keeps ? "Configure" : "Validate", section, timeLimit: settings.limits.configureTime)
        } catch let failure as GRPCFailure {
            throw Unavailable(
                description: "the process of the plugin \(settings.name): \(HostService.line(failure.message))")
        }
        if keeps, reply.errors.isEmpty { sections.withLock { $0[section.instance] = section } }
        return (reply, section.instance)
    }

    /// Forgets an instance.
    func release(_ instance: UInt64) {
        _ = sections.withLock { $0.removeValue(forKey: instance) }
        host.forget(instance)
        guard let connection = try? connection() else { return }
        var request = Assay_Plugin_V1_ReleaseRequest()
        request.instance = instance
        _ = try? connection.start("Release", request, timeLimit: settings.limits.configureTime)
    }
}
