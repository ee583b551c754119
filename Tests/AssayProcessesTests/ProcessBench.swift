import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport
import AssayTesting
import Foundation
import Logging

@testable import AssayProcesses

/// An engine with the scripted plugin in a process of its own.
struct ProcessBench: Sendable {
    static let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("process-plugin").path

    let engine: TestEngine
    let processes: ProcessPlugins
    let log: RecordingLog

    /// Settings of the scripted plugin.
    static func settings(
        _ mode: String = "honest", kind: PluginKind = .provider, name: String = "widget",
        _ set: (inout PluginSettings, inout ProcessCommand) -> Void = { _, _ in }
    ) -> PluginSettings {
        var command = ProcessCommand([executable, mode])
        var settings = PluginSettings(kind: kind, name: name, origin: .command(command))
        // Busy machines start processes slowly.
        settings.limits.startTime = .seconds(600)
        settings.limits.configureTime = .seconds(600)
        settings.limits.healthInterval = .seconds(60)
        settings.limits.healthTime = .seconds(300)
        settings.limits.endTime = .seconds(10)
        settings.limits.firstPause = .milliseconds(20)
        set(&settings, &command)
        settings.origin = .command(command)
        return settings
    }

    /// Runs `body` with an engine whose only app has the plugin, and ends the process.
    static func with(
        _ settings: PluginSettings = settings(), section: String = "widget: {factory: north}", app: String = "",
        http: any OutboundHTTP = NoOutboundHTTP(), policy: String? = nil,
        _ body: (ProcessBench) async throws -> Void
    ) async throws {
        let log = RecordingLog()
        let processes = await ProcessPlugins.start([settings], logger: log.logger)
        do {
            let engine = try TestEngine(
                processes.plugins + [.provider(VouchProvider.self)],
                policy: policy ?? TestEngine.policy(providers: section, app: app),
                secrets: SecretSource { _ in Array("a secret of widgets".utf8) }, http: http, logger: log.logger,
                options: Engine.Options(timeLimit: .seconds(600)))
            try await body(ProcessBench(engine: engine, processes: processes, log: log))
        } catch {
            await processes.stop()
            throw error
        }
        await processes.stop()
    }

    /// An exchange of evidence that tells the plugin what to do.
    func say(_ text: String, _ body: JSON = [:]) async -> Reply {
        // An instance that kept failing is called again after a while.
        engine.clock.advance(by: .seconds(6))
        var members = [JSONMember("say", .string(text))]
        members += body.members ?? []
        return await engine.call("exchangeWidget", TestEngine.app, .object(members))
    }

    /// The fact that the plugin stated about an exchange.
    func serial(_ reply: Reply) -> String? {
        let facts = engine.record(of: reply)?.facts ?? []
        return facts.first { $0.name.text == "widget_serial" }.map { "\($0.value)" }
    }

    /// Waits until something is so.
    static func wait(_ isSo: @Sendable () async -> Bool) async throws {
        for _ in 0..<30_000 {
            if await isSo() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Waited()
    }

    struct Waited: Error {}
}

extension Reply {
    /// The status of a failure; nil for a success.
    var code: StatusCode? { if case .failure(let failure) = result { failure.status } else { nil } }
    /// The members of a success; none for a failure.
    var fields: JSON { (try? result.get()) ?? [:] }
    /// The message of a failure.
    var message: String? { if case .failure(let failure) = result { failure.message } else { nil } }
}

extension DecisionRecord {
    /// The code of the reason of a refusal.
    var reason: String? { if case .refused(let reason) = outcome { reason.code } else { nil } }
}

/// A provider that gives everybody a token.
struct VouchProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(name: "vouch", summary: "Vouches.", reasons: [])
    static let methods: [ProviderMethod<VouchProvider>] = [
        .exchange("exchangeVouch") { (_, _: Request, _) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
