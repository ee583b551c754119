extension YAMLNode {
    /// A duration in days, hours, minutes, seconds and milliseconds, largest unit first: `7d`, `1h30m`, `250ms`.
    package func duration() throws(YAMLMismatch) -> Duration {
        guard case .scalar(let text, _) = content, let duration = Self.duration(text) else {
            var hint: String?
            if case .scalar(let text, _) = content, (1...9).contains(text.utf8.count), Int(text) != nil {
                hint = "add a unit, such as \(text)s"
            }
            throw YAMLMismatch(expected: "a duration such as 1h", found: self, hint: hint)
        }
        return duration
    }

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Nine digits at most for each unit, so that the sum cannot overflow.
    package static func duration(_ text: String) -> Duration? {
        var rest = text.utf8[...]
        var candidates = units[...]
        var milliseconds: Int64 = 0
        guard !rest.isEmpty, rest.count <= 40 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
            rest = rest.dropFirst(name.count)
            guard (1...9).contains(digits.count), let number = Int64(Substring(digits)),
                let unit = candidates.firstIndex(where: { $0.name.utf8.elementsEqual(name) })
            else { return nil }
            milliseconds += number * candidates[unit].milliseconds
            candidates = candidates[(unit + 1)...]
        }
        return .milliseconds(milliseconds)
    }
}
