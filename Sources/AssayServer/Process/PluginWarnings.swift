internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Logging

/// What is questionable about the plugins of a program.
enum PluginWarnings {
    /// Logs the plugins of an old contract, and those that could not be made.
    static func log(_ registry: Registry, to logger: Logger) {
        for warning in registry.warnings {
            logger.warning("warning about plugins", metadata: ["problem": "\(warning)"])
        }
        for plugin in registry.plugins {
            guard let reason = plugin.unavailable else { continue }
            logger.warning(
                "a plugin is unavailable",
                metadata: ["kind": "\(plugin.kind.rawValue)", "name": "\(plugin.name)", "reason": "\(reason)"])
        }
    }
}
