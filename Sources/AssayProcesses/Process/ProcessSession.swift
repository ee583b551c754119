internal import AssayCore
internal import AssayKit
internal import CSpawn
internal import Logging
internal import NIOCore
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One run of a plugin's process: from its start to its end.
final class ProcessSession: Sendable {
    let connection: PluginConnection
    let description: PluginProcess.Description
    private let child: ChildProcess?
    private let folder: SocketFolder
    private let listener: UnaryListener
    private let logger: Logger

    private init(
        _ connection: PluginConnection, _ description: PluginProcess.Description, _ child: ChildProcess?,
        _ folder: SocketFolder, _ listener: UnaryListener, _ logger: Logger
    ) {
        self.connection = connection
        self.description = description
        self.child = child
        self.folder = folder
        self.listener = listener
        self.logger = logger
    }

    /// Starts the process, connects to it, and asks what the plugin is.
    static func open(_ process: PluginProcess, _ logger: Logger) async throws -> ProcessSession {
        let settings = process.settings
        let deadline = ContinuousClock.now + settings.limits.startTime
        var user: UserAccount?
        if case .command(let command) = settings.origin, let name = command.user {
            guard let account = UserAccount(name) else {
                throw PluginProcess.Unavailable(description: "the system has no user '\(name)'")
            }
            user = account
        }
        let folder = try SocketFolder(owner: user)
        do {
            let host = process.host
            let listener = try await UnaryListener.listen(on: folder.host, services: ["assay.plugin.v1.Host"]) {
                try await host.answer($0, $1)
            }
            do {
                try folder.giveHostSocket(to: user)
                return try await open(settings, user, folder, listener, deadline, logger)
            } catch {
                await listener.close()
                throw error
            }
        } catch {
            await folder.remove(logger)
            throw error
        }
    }

    private static func open(
        _ settings: PluginSettings, _ user: UserAccount?, _ folder: SocketFolder, _ listener: UnaryListener,
        _ deadline: ContinuousClock.Instant, _ logger: Logger
    ) async throws -> ProcessSession {
        var child: ChildProcess?
        var socket = folder.plugin
        switch settings.origin {
        case .socket(let path): socket = path
        case .command(let command):
            let environment = command.environment.map { "\($0.name)=\($0.value)" }
            let start = ChildProcess.Start(
                command: command.words, digest: command.digest,
                environment: environment, mark: "ASSAY_PLUGIN_SOCKET=\(folder.plugin)", directory: folder.path,
                user: user)
            child = try await ChildProcess.start(start) { line in
                logger.info(
                    "a line of a plugin's process", metadata: ["line": "\(HostService.line(line, limit: 4097))"])
            }
        }
        do {
            let connection = try await connect(to: socket, child, deadline)
            do {
                let description = try await greet(connection, settings, folder, deadline)
                return ProcessSession(connection, description, child, folder, listener, logger)
            } catch {
                connection.close()
                throw error
            }
        } catch {
            let ended = await kill(child, after: .milliseconds(200))
            guard let ended, !(error is CancellationError) else { throw error }
            throw PluginProcess.Unavailable(description: "\(HostService.line("\(error)")) (\(ended))")
        }
    }

    /// Connects as soon as somebody listens.
    private static func connect(
        to path: String, _ child: ChildProcess?, _ deadline: ContinuousClock.Instant
    ) async throws -> PluginConnection {
        while true {
            do {
                return try PluginConnection.connect(to: path)
            } catch {
                try Task.checkCancellation()
                if let child, child.hasEnded {
                    throw PluginProcess.Unavailable(description: "it ended before it listened")
                }
                guard ContinuousClock.now < deadline else {
                    throw PluginProcess.Unavailable(
                        description: child == nil
                            ? "nobody listens on \(path): \(error)" : "it did not listen on its socket in time")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func greet(
        _ connection: PluginConnection, _ settings: PluginSettings, _ folder: SocketFolder,
        _ deadline: ContinuousClock.Instant
    ) async throws -> PluginProcess.Description {
        func timeLeft() -> Duration { max(.milliseconds(100), deadline - ContinuousClock.now) }
        var hello = Assay_Plugin_V1_HandshakeRequest()
        (hello.oldestVersion, hello.newestVersion) = (PluginProcess.version, PluginProcess.version)
        hello.hostSocket = folder.host
        let answer: Assay_Plugin_V1_HandshakeResponse = try await connection.call(
            "Handshake", hello, timeLimit: timeLeft())
        guard answer.version == PluginProcess.version else {
            throw PluginProcess.Unavailable(
                description:
                    "it speaks version \(answer.version) of the contract, and Assay speaks \(PluginProcess.version)")
        }
        let description: PluginProcess.Description = try await connection.call(
            "Describe", Assay_Plugin_V1_DescribeRequest(), timeLimit: timeLeft())
        let kind: PluginKind? =
            switch description.kind {
            case .provider: .provider
            case .consumer: .consumer
            default: nil
            }
        guard kind == settings.kind, description.name.isExactly(settings.name) else {
            throw PluginProcess.Unavailable(
                description: """
                    it is the \(kind?.rawValue ?? "plugin of an unknown kind") '\(HostService.line(description.name, limit: 80))', \
                    and the \(settings.kind.rawValue) '\(settings.name)' is expected
                    """)
        }
        return description
    }

    // MARK: - The end

    /// Waits until the process ends, the connection is lost, its health is not known for long, or the task is cancelled.
    ///
    /// - Parameter problem: gets what the plugin says of its health.
    /// - Returns: what happened.
    func watch(_ limits: ProcessLimits, problem: @escaping @Sendable (String?) -> Void) async -> String {
        let end = FirstResult<String>()
        connection.whenClosed { end.settle(.success("the connection to it was lost")) }
        let health = Task { [connection] in
            var failures = 0
            while (try? await Task.sleep(for: limits.healthInterval)) != nil {
                do {
                    let reply: Assay_Plugin_V1_HealthResponse = try await connection.call(
                        "Health", Assay_Plugin_V1_HealthRequest(), timeLimit: limits.healthTime)
                    failures = 0
                    problem(reply.problem.isEmpty ? nil : HostService.line(reply.problem))
                } catch {
                    failures += 1
                    guard failures < 3 else {
                        end.settle(.success("it did not answer three questions about its health"))
                        return
                    }
                }
            }
        }
        let reason = await withTaskCancellationHandler {
            (try? await end.value) ?? "it was stopped"
        } onCancel: {
            end.settle(.success("it was stopped"))
        }
        health.cancel()
        problem(nil)
        // A process that ends closes its connections first.
        guard let child, !Task.isCancelled else { return reason }
        for _ in 0..<20 where !child.hasEnded { try? await Task.sleep(for: .milliseconds(10)) }
        return child.hasEnded ? await child.ended() : reason
    }

    /// Kills the process, if it is ours; ``watch(_:problem:)`` returns then.
    func kill() {
        child?.send(SIGKILL)
    }

    /// Asks the process to end, and makes it end.
    func end(_ limits: ProcessLimits) async {
        // Also when the task is cancelled.
        await Task {
            if child?.hasEnded == false {
                _ = try? await connection.call(
                    "Shutdown", Assay_Plugin_V1_ShutdownRequest(), as: Assay_Plugin_V1_ShutdownResponse.self,
                    timeLimit: limits.endTime)
            }
            connection.close()
            await Self.kill(child, after: limits.endTime)
            await listener.close()
            await folder.remove(logger)
        }.value
    }

    /// SIGTERM, some time, and SIGKILL.
    ///
    /// - Returns: how it ended; nil when there is no process of ours.
    @discardableResult
    private static func kill(_ child: ChildProcess?, after pause: Duration) async -> String? {
        guard let child else { return nil }
        if !child.hasEnded { child.send(SIGTERM) }
        let limit = ContinuousClock.now + pause
        while !child.hasEnded, ContinuousClock.now < limit { await Self.nap(.milliseconds(10)) }
        if !child.hasEnded { child.send(SIGKILL) }
        return await child.ended()
    }

    /// Sleeps, also in a cancelled task.
    private static func nap(_ duration: Duration) async {
        await Task { try? await Task.sleep(for: duration) }.value
    }
}

/// The folder of the two sockets, which nobody else may enter, and the working folder of the process.
struct SocketFolder: Sendable {
    let path: String

    /// The plugin's socket, which the process makes.
    var plugin: String { "\(path)/plugin.sock" }
    /// Ours.
    var host: String { "\(path)/host.sock" }

    /// - Parameter owner: whose folder it becomes; nil for our own.
    init(owner: UserAccount?) throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // A path of a socket has at most 107 bytes.
        let parent = base.utf8.count <= 64 ? base : "/tmp"
        var template = Array("\(parent)/assay-plugin-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw PluginProcess.Unavailable(description: "\(parent): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let owner, chown(path, owner.user, owner.group) != 0 {
            let reason = String(cString: strerror(errno))
            rmdir(path)
            throw PluginProcess.Unavailable(description: "cannot run it as another user: \(reason)")
        }
    }

    func giveHostSocket(to owner: UserAccount?) throws {
        guard let owner, chown(host, owner.user, owner.group) != 0 else { return }
        throw PluginProcess.Unavailable(description: "\(host): \(String(cString: strerror(errno)))")
    }

    /// Removes the folder with what the process left in it, on a thread of its own: that may be much.
    func remove(_ logger: Logger) async {
        let path = path
        do {
            // Also when the task is cancelled.
            try await Task {
                try await WorkerThreads(count: 1, waiting: 1).run {
                    guard assay_remove_folder(path) == 0 else {
                        throw PluginProcess.Unavailable(description: String(cString: strerror(errno)))
                    }
                }
            }.value
        } catch {
            logger.warning(
                "the working folder of a plugin's process cannot be removed",
                metadata: ["folder": "\(path)", "error": "\(error)"])
        }
    }
}
