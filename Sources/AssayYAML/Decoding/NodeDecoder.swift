internal import AssayCore

/// The `Decoder` of one value.
final class NodeDecoder: Decoder {
    let node: YAMLNode
    let path: YAMLPath
    let session: DecodingSession
    /// The type that is being decoded; nil for a part of one that its initializer reads by hand.
    let type: (any Decodable.Type)?
    /// Whether the type being decoded reads elements of one type only.
    let isHomogeneous: Bool
    /// Describes the value; nil when nothing does.
    let key: PolicyKey?
    /// The descriptions of the keys of the type.
    private(set) lazy var descriptions = (type as? any DescribedConfiguration.Type)?.keys ?? [:]
    private(set) var log: KeyLog?
    /// Whether another reader reports the unknown keys.
    private let isShared: Bool
    /// Decoders that the type's own initializer made for values within this one.
    private var nested: [NodeDecoder] = []

    init(
        _ node: YAMLNode, path: YAMLPath, session: DecodingSession, decoding type: (any Decodable.Type)?,
        isHomogeneous: Bool = false, key: PolicyKey? = nil, sharing log: KeyLog? = nil
    ) {
        self.node = node
        self.path = path
        self.session = session
        self.type = type
        self.isHomogeneous = isHomogeneous
        self.key = key
        self.log = log
        isShared = log != nil
        if let type { log?.types.append(type) }
    }

    var codingPath: [any CodingKey] { path.codingPath }

    var userInfo: [CodingUserInfoKey: Any] {
        CodingUserInfoKey.place.map { [$0: node.location.description] } ?? [:]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedValues<Key>(self, try keyLog()))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = node.elements else {
            throw mismatch([Any].self, YAMLMismatch(expected: "a sequence", found: node))
        }
        return SequenceValues(self, elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(self) }

    /// This same value as another type, which shares the keys.
    func whole<T: Decodable>(_ type: T.Type) throws -> T {
        try session.decode(type, from: node, at: path, inside: self)
    }

    func mismatch(_ type: any Any.Type, _ mismatch: YAMLMismatch) -> DecodingError {
        session.mismatch(type, node, path, mismatch, of: self.type)
    }

    /// A decoder of a value within this one, whose unknown keys are reported with this one's.
    func child(_ node: YAMLNode, _ component: ConfigurationError.Component) -> NodeDecoder {
        let child = NodeDecoder(node, path: .child(path, component), session: session, decoding: nil)
        nested.append(child)
        return child
    }

    func reportUnknownKeys() {
        if let log, !isShared { log.reportUnknownKeys(in: path, to: session.reports) }
        for decoder in nested { decoder.reportUnknownKeys() }
    }

    /// The log of a mapping for another decoder of the same value; nil for a value that is not a mapping.
    var sharedLog: KeyLog? { node.entries == nil ? nil : try? keyLog() }

    private func keyLog() throws -> KeyLog {
        if let log { return log }
        guard let entries = node.entries else {
            throw mismatch([String: Any].self, YAMLMismatch(expected: "a mapping", found: node))
        }
        let new = KeyLog(entries)
        if let type { new.types.append(type) }
        log = new
        return new
    }
}

/// A value that a type takes as a whole.
struct SingleValue: SingleValueDecodingContainer {
    private let decoder: NodeDecoder

    init(_ decoder: NodeDecoder) {
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.node.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decoder.whole(type)
    }
}
