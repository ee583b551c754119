/// The keys of a probe.
struct ProbeKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }
    /// Names that are not in a policy: a type that reads them is not followed.
    var allKeys: [Key] {
        probe.log.isOpaque = true
        return []
    }

    func contains(_ key: Key) -> Bool {
        probe.log.look(for: key.stringValue)
        return probe.variant == .most
    }

    func decodeNil(forKey key: Key) -> Bool {
        probe.log.look(for: key.stringValue)
        return probe.variant == .least
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        probe.log.ask(key.stringValue, type, isRequired: true)
        return try probe.sample(type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
        probe.log.ask(key.stringValue, type, isRequired: false)
        return probe.variant == .least ? nil : try? probe.sample(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedDecodingContainer<NestedKey> {
        probe.aside().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { probe.aside().unkeyedContainer() }

    func superDecoder() -> any Decoder { probe.aside() }

    func superDecoder(forKey key: Key) -> any Decoder { probe.aside() }
}

/// The elements of a probe: it has none.
struct ProbeElements: UnkeyedDecodingContainer {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() throws -> Bool { throw Probe.Failure() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { throw Probe.Failure() }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        throw Probe.Failure()
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Probe.Failure() }

    func superDecoder() throws -> any Decoder { throw Probe.Failure() }
}

/// A probe that is decoded as a whole.
struct ProbeValue: SingleValueDecodingContainer {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { probe.variant == .least }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if type == String.self, let text = probe.text as? T {
            probe.log.wholes.append(type)
            probe.log.asksForText = true
            return text
        }
        // Another type that decodes itself asks of this same value.
        guard ValueShape(known: type) != nil else { return try T(from: probe) }
        probe.log.wholes.append(type)
        return try probe.sample(type)
    }
}
