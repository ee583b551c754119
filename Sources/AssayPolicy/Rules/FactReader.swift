package import AssayCore
package import AssayYAML

/// Reads values of facts from files, by the types of the facts.
package enum FactReader {
    /// A value of the type; nil for another one, which is reported.
    ///
    /// - Parameter name: what the value is called in messages.
    package static func read(_ value: YAMLValue, of name: String, _ type: FactType) -> Fact.Value? {
        let found: Fact.Value?
        switch type {
        case .integer: found = value.decode(Int64.self).map { .integer($0) }
        case .bool: found = value.decode(Bool.self).map { .bool($0) }
        case .duration: found = value.decode(Duration.self).map { .duration($0) }
        case .instant: found = value.decode(Instant.self).map { .instant($0) }
        case .text, .words, .version, .digest: found = value.decode(String.self).map { .text($0) }
        }
        guard let found else { return nil }
        guard type.admits(found) else {
            var hint: String?
            if case .words(let words) = type, case .text(let text) = found {
                hint = Spelling.guess(for: text, among: words.map(\.string))
            }
            value.report("`\(name)` is \(type.words)", hint: hint)
            return nil
        }
        return found
    }

    /// A value as records have it; nil for one that is not of the type.
    package static func read(recorded value: JSON, _ type: FactType) -> Fact.Value? {
        let found: Fact.Value? =
            switch (type, value) {
            case (.integer, .integer(let number)): .integer(number)
            case (.bool, .bool(let value)): .bool(value)
            case (.duration, .string(let text)): recordedDuration(text).map { .duration($0) }
            case (.instant, .string(let text)): Instant(rfc3339: text).map { .instant($0) }
            case (.text, .string(let text)), (.words, .string(let text)), (.version, .string(let text)),
                (.digest, .string(let text)):
                .text(text)
            default: nil
            }
        return found.flatMap { type.admits($0) ? $0 : nil }
    }

    /// A duration in whole seconds, which may be negative, or as policies write it.
    private static func recordedDuration(_ text: String) -> Duration? {
        guard text.ends(withExactly: "s"), let seconds = Int64(text.dropLast()) else { return YAMLNode.duration(text) }
        return .seconds(seconds)
    }
}
