internal import AssayCore

/// The keys and values of a mapping, as `Decodable` types ask for them.
struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: NodeDecoder
    private let log: KeyLog

    init(_ decoder: NodeDecoder, _ log: KeyLog) {
        self.decoder = decoder
        self.log = log
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { log.entries.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { log.index(key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = log.index(key.stringValue) else { return nil }
        guard !log.entries[index].value.isNull else { return nil }
        return try decode(type, log.entries[index].value, key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decode(type, value(key), key)
    }

    private func decode<T: Decodable>(_ type: T.Type, _ node: YAMLNode, _ key: Key) throws -> T {
        do {
            return try decoder.session.decode(type, from: node, at: decoder.path.key(key.stringValue))
        } catch {
            guard decoder.isHomogeneous else { throw error }
            throw decoder.error(failures(after: error, decoding: type))
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let entry = log.entry("super") else { throw missing("super") }
        return decoder.child(entry.value, .key("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    private func child(_ key: Key) throws -> NodeDecoder {
        decoder.child(try value(key), .key(key.stringValue))
    }

    private func value(_ key: Key) throws -> YAMLNode {
        guard let index = log.index(key.stringValue) else { throw missing(key.stringValue) }
        return log.entries[index].value
    }

    private func missing(_ key: String) -> DecodingError {
        let diagnostic = decoder.missing(key, log)
        return .keyNotFound(
            PathKey(stringValue: key),
            .init(
                codingPath: codingPath, debugDescription: diagnostic.message,
                underlyingError: LocatedFailure([diagnostic])))
    }

    /// The problems of the values that have not been asked for yet, after the first one.
    private func failures<T: Decodable>(after first: any Error, decoding type: T.Type) -> LocatedFailure {
        var diagnostics = LocatedFailure(in: first)?.diagnostics ?? []
        for entry in log.entries where diagnostics.count < LocatedFailure.limit && !log.isKnown(entry.key) {
            diagnostics += decoder.session.problems(of: type, entry.value, at: decoder.path.key(entry.key))
        }
        return LocatedFailure(diagnostics)
    }
}
