internal import AssayCore

/// A decoder without content that records what a type asks for.
final class Probe: Decoder {
    struct Asked {
        let key: String
        let type: any Decodable.Type
        let isRequired: Bool
    }

    /// What a type asked for.
    struct Log {
        private(set) var fields: [Asked] = []
        /// Every key that was asked or looked for, in this order.
        private(set) var keys: [String] = []
        /// Keys that were looked for, and so may be absent.
        private var looked: Set<ExactText> = []
        var isKeyed = false
        /// The types that decoded the value as a whole.
        var wholes: [any Decodable.Type] = []
        var asksForText = false
        /// Whether something was asked for that cannot be followed.
        var isOpaque = false

        mutating func ask(_ key: String, _ type: any Decodable.Type, isRequired: Bool) {
            if !keys.contains(exactly: key) { keys.append(key) }
            guard !fields.contains(where: { $0.key.isExactly(key) }) else { return }
            fields.append(Asked(key: key, type: type, isRequired: isRequired && !looked.contains(ExactText(key))))
        }

        mutating func look(for key: String) {
            if !keys.contains(exactly: key) { keys.append(key) }
            looked.insert(ExactText(key))
        }
    }

    struct Failure: Error {}

    var log = Log()
    /// Whether the type could be made from the samples.
    private(set) var isComplete = false
    let variant: Sample.Variant
    let text: String
    let depth: Int
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ variant: Sample.Variant, text: String, depth: Int) {
        self.variant = variant
        self.text = text
        self.depth = depth
    }

    /// What a type asks for, up to the first sample that it does not take.
    static func run(_ type: any Decodable.Type, _ variant: Sample.Variant) -> Probe {
        var best = probe(type, variant, text: "")
        for text in Sample.texts where !best.isComplete && best.log.asksForText {
            best = probe(type, variant, text: text)
        }
        return best
    }

    private static func probe<T: Decodable>(_ type: T.Type, _ variant: Sample.Variant, text: String) -> Probe {
        attempt(type, variant, text: text, depth: 0).probe
    }

    static func attempt<T: Decodable>(
        _ type: T.Type, _ variant: Sample.Variant, text: String, depth: Int
    ) -> (probe: Probe, value: T?) {
        let probe = Probe(variant, text: text, depth: depth + 1)
        let value = try? T(from: probe)
        probe.isComplete = value != nil
        return (probe, value)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        log.isKeyed = true
        return KeyedDecodingContainer(ProbeKeys<Key>(probe: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        log.isOpaque = true
        return ProbeElements(probe: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(probe: self) }

    /// A decoder whose requests are ignored.
    func aside() -> Probe {
        log.isOpaque = true
        return Probe(variant, text: text, depth: depth + 1)
    }

    func sample<T: Decodable>(_ type: T.Type) throws -> T {
        guard let value = Sample.value(type, variant, depth: depth) else { throw Failure() }
        return value
    }
}
