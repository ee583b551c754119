public import AssayEngine
internal import AssayKit
public import Logging

/// The plugins of a program that run in processes of their own.
///
///     let file = try PluginsFile.read(in: PolicyDirectory("policies"))
///     let processes = await ProcessPlugins.start(file?.plugins ?? [], logger: logger)
///     let registry = try Registry(plugins + processes.plugins)
///     …
///     await processes.stop()
public final class ProcessPlugins: Sendable {
    /// The plugins for a registry, in the order of the settings; one whose process did not answer is there too, with its
    /// reason.
    public var plugins: [Plugin] { entries.map(\.plugin) }
    let entries: [Entry]

    /// A plugin of the settings.
    struct Entry: Sendable {
        let settings: PluginSettings
        let plugin: Plugin
        /// Nil when its process did not answer.
        let running: ProcessPlugin?
        /// Why there is none.
        let reason: String
    }

    private init(_ entries: [Entry]) {
        self.entries = entries
    }

    /// Starts all processes at once, and returns when each has said what it is, or has failed.
    ///
    /// - Parameter checksOnly: whether policies will only be checked: no instances are made in the processes then.
    public static func start(
        _ settings: [PluginSettings], checksOnly: Bool = false, logger: Logger
    ) async -> ProcessPlugins {
        let started = await withTaskGroup { group in
            for (index, settings) in settings.enumerated() {
                group.addTask { (index, await start(settings, checksOnly, logger)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return ProcessPlugins(settings.indices.compactMap { started[$0] })
    }

    private static func start(
        _ settings: PluginSettings, _ checksOnly: Bool, _ logger: Logger
    ) async -> Entry {
        let process = PluginProcess(settings, logger: logger)
        do {
            let description = try await process.start()
            let plugin = ProcessPlugin(process: process, description: description, checksOnly: checksOnly)
            return Entry(settings: settings, plugin: try plugin.plugin(), running: plugin, reason: "")
        } catch {
            await process.stop()
            let reason = "\(error)"
            return Entry(
                settings: settings, plugin: .unavailable(settings.kind, name: settings.name, reason: reason),
                running: nil, reason: reason)
        }
    }

    /// Asks all processes to end, and returns when they have ended.
    public func stop() async {
        await withTaskGroup { group in
            for process in entries.compactMap(\.running?.process) { group.addTask { await process.stop() } }
        }
    }
}
