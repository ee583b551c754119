internal import ArgumentParser
internal import AssayYAML

/// When a server reads again what it runs by.
struct ReloadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How often to check for changed policies, such as 1s; `never` to check on SIGHUP only.",
            valueName: "duration"))
    var watch = WatchInterval(duration: .seconds(1))
}

/// A duration as policies write it, or `never`.
struct WatchInterval: ExpressibleByArgument, Sendable {
    /// Nil for never.
    let duration: Duration?

    init(duration: Duration?) {
        self.duration = duration
    }

    init?(argument: String) {
        if argument == "never" {
            duration = nil
            return
        }
        let allowed = Duration.milliseconds(100)...Duration.seconds(86_400)
        guard let duration = YAMLNode.duration(argument), allowed.contains(duration) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.map { "\($0.components.seconds)s" } ?? "never" }
}
