internal import ArgumentParser
internal import AssayYAML

/// When a server reads again what it runs by.
struct ReloadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How often to look for changed policies, such as 1s; `never` for on SIGHUP only.", valueName: "duration"))
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
        } else if let duration = YAMLNode.duration(argument), duration >= .milliseconds(100), duration <= .seconds(86_400)
        {
            self.duration = duration
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { duration.map { "\($0.components.seconds)s" } ?? "never" }
}
