internal import AssayCore

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

    /// The names of units that people write, in lower case.
    private static let otherNames: [(names: [String], milliseconds: Int64)] = [
        (["w", "week", "weeks"], 604_800_000), (["d", "day", "days"], 86_400_000),
        (["h", "hr", "hrs", "hour", "hours"], 3_600_000), (["m", "min", "mins", "minute", "minutes"], 60_000),
        (["s", "sec", "secs", "second", "seconds"], 1000),
        (["ms", "msec", "millis", "millisecond", "milliseconds"], 1),
    ]

    /// How a duration is written that somebody wrote as `5min`, `1 hour`, `1.5h` or `PT5M`; nil for other text.
    package static func suggestion(for text: String) -> String? {
        guard text.utf8.count <= 40 else { return nil }
        var rest = text.lowercasedASCII.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "_") }[...]
        // As ISO 8601 has it: PT5M, P1DT12H.
        if rest.first == UInt8(ascii: "p") {
            rest = rest.filter { $0 != UInt8(ascii: "p") && $0 != UInt8(ascii: "t") }[...]
        }
        var sum: Int64 = 0
        var units: Set<Int64> = []
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            guard let part = part(of: &rest), units.insert(part.unit).inserted else { return nil }
            sum += part.milliseconds
        }
        return exactText(.milliseconds(sum))
    }

    /// A number with its unit at the start of a text; nine digits at most, so that sums cannot overflow.
    private static func part(of rest: inout ArraySlice<UInt8>) -> (milliseconds: Int64, unit: Int64)? {
        func digits() -> Int64? {
            let found = rest.prefix(while: \.isASCIIDigit)
            rest = rest.dropFirst(found.count)
            return (1...9).contains(found.count) ? Int64(String(decoding: found, as: UTF8.self)) : nil
        }
        guard let whole = digits() else { return nil }
        var tenths: Int64 = 0
        if let point = rest.first, ".,".utf8.contains(point) {
            rest = rest.dropFirst()
            guard let fraction = digits(), fraction < 10 else { return nil }
            tenths = fraction
        }
        let name = String(decoding: rest.prefix(while: \.isASCIILowercase), as: UTF8.self)
        rest = rest.dropFirst(name.utf8.count)
        guard let unit = otherNames.first(where: { $0.names.contains(exactly: name) }) else { return nil }
        return (whole * unit.milliseconds + tenths * unit.milliseconds / 10, unit.milliseconds)
    }
}
