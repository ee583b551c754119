/// Durations as policies write them.
package enum DurationText {
    private static let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    /// `7d`, `1h30m`; parts of a second are dropped.
    package static func text(_ duration: Duration) -> String {
        var rest = max(0, duration.components.seconds)
        var text = ""
        for unit in units where rest >= unit.seconds {
            text += "\(rest / unit.seconds)\(unit.name)"
            rest %= unit.seconds
        }
        return text.isEmpty ? "0s" : text
    }

    /// The same with milliseconds: `1m500ms`.
    package static func exactText(_ duration: Duration) -> String {
        let milliseconds = duration.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return text(duration) }
        return (duration.components.seconds > 0 ? text(duration) : "") + "\(milliseconds)ms"
    }
}
