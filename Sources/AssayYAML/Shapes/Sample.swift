internal import AssayCore

/// Values of any type for a probe: such as a policy could give, and of no meaning.
enum Sample {
    /// The keys that a type asks for may depend on earlier values: two samples show whether they do.
    enum Variant: CaseIterable {
        /// No optional value is present, and each choice is the first.
        case least
        /// All values are present, and each choice is the last.
        case most
    }

    /// Texts that types of the kit, and many others, can be read from.
    static let texts = ["a", "0", "env:A", "https://example.com/", "1970-01-01T00:00:00Z", "A234567890"]

    /// Types may hold themselves.
    static let deepest = 6

    /// A value; nil for a type that accepts none of the samples.
    static func value<T: Decodable>(_ type: T.Type, _ variant: Variant, depth: Int) -> T? {
        if let value = simple(type, variant) ?? (type as? any CaseIterable.Type).flatMap({ choice($0, variant) }) as? T
        {
            return value
        }
        if let form = (type as? any WrittenAsText.Type)?.textForm {
            return form.examples.lazy.compactMap { Probe.attempt(type, variant, text: $0, depth: depth).value }.first
        }
        guard depth < deepest else { return nil }
        for text in texts {
            let (probe, value) = Probe.attempt(type, variant, text: text, depth: depth)
            if let value { return value }
            guard probe.log.asksForText else { return nil }
        }
        return nil
    }

    private static func simple<T>(_ type: T.Type, _ variant: Variant) -> T? {
        let isMost = variant == .most
        if type == String.self { return (isMost ? "a" : "") as? T }
        if type == Bool.self { return isMost as? T }
        if type == Duration.self { return Duration.seconds(isMost ? 3600 : 0) as? T }
        if type == Double.self { return (isMost ? 1.0 : 0.0) as? T }
        if type == Float.self { return Float(isMost ? 1 : 0) as? T }
        return (type as? any FixedWidthInteger.Type).flatMap { integer($0, isMost) } as? T
    }

    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ isMost: Bool) -> Any {
        isMost ? Number(1) : Number(0)
    }

    private static func choice<Choice: CaseIterable>(_ type: Choice.Type, _ variant: Variant) -> Any? {
        let cases = Array(Choice.allCases)
        return variant == .least ? cases.first : cases.last
    }
}
