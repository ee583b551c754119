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

    // The synthesised reading of an optional number, text or switch comes here.
    func decodeNil(forKey key: Key) throws -> Bool { try stated(key).isNull }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = log.index(key.stringValue) else { return nil }
        do {
            let value = try stated(log.entries[index])
            return value.isNull ? nil : try decode(type, value, key)
        } catch {
            guard type is any ToleratesErrors.Type else { throw error }
            decoder.session.report(error)
            return nil
        }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        do {
            return try decode(type, stated(key), key)
        } catch {
            guard let nothing = (type as? any ToleratesErrors.Type)?.init() as? T else { throw error }
            decoder.session.report(error)
            return nothing
        }
    }

    private func decode<T: Decodable>(_ type: T.Type, _ node: YAMLNode, _ key: Key) throws -> T {
        do {
            return try decoder.session.decode(
                type, from: node, at: decoder.path.key(key.stringValue), key: decoder.descriptions[key.stringValue])
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

    private func stated(_ key: Key) throws -> YAMLNode {
        guard let index = log.index(key.stringValue) else { throw missing(key.stringValue) }
        return try stated(log.entries[index])
    }

    /// The value of an entry.
    ///
    /// - Throws: when there is nothing behind a key that has a meaning; a name may stand alone.
    private func stated(_ entry: YAMLEntry) throws -> YAMLNode {
        guard !entry.value.isAbsent || decoder.isHomogeneous else {
            throw decoder.error(LocatedFailure([entry.lacksValue(in: decoder.path)]))
        }
        return entry.value
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
