internal import AssayPolicy
internal import AssayYAML
internal import Logging

/// What is questionable in policies that are in force.
enum PolicyWarnings {
    /// - Parameter warnings: of the loader and of plugins.
    static func log(_ policies: PolicySet, _ warnings: Diagnostics?, to logger: Logger) {
        if policies.apps.isEmpty { logger.warning("no policy defines an app: every call is refused") }
        for warning in (warnings?.all ?? []) + policies.servicesWithoutBackend {
            var metadata: Logger.Metadata = ["problem": "\(warning.message)"]
            metadata["place"] = (warning.location?.description ?? warning.file).map { "\($0)" }
            metadata["path"] = warning.path.isEmpty ? nil : "\(warning.path)"
            logger.warning("warning about policies", metadata: metadata)
        }
    }
}
