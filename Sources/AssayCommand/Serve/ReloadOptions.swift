internal import ArgumentParser
internal import AssayCore

/// When a server reads again what it runs by.
struct ReloadOptions: ParsableArguments {
    @Option(
        help: "How often to check for changed policies, such as 1s; `never` to check on SIGHUP only.",
        valueName: "duration", reading: .watchInterval)
    var watch = WatchInterval(duration: .seconds(1))
}

/// A duration as policies write it, or `never`.
struct WatchInterval: Sendable {
    /// Nil for never.
    let duration: Duration?
}

extension ArgumentReader<WatchInterval> {
    /// From a tenth of a second to a day.
    static var watchInterval: Self {
        let durations = ArgumentReader<Duration>.duration(.milliseconds(100)...Duration.seconds(86_400))
        return ArgumentReader(
            accepted: "\(durations.accepted), or `never`", bounds: durations.bounds,
            text: { $0.duration.map(durations.text) ?? "never" }
        ) { text throws(ArgumentCause) in
            text.isExactly("never") ? WatchInterval(duration: nil) : WatchInterval(duration: try durations.read(text))
        }
    }
}
