internal import AssayKit

/// The `Decoder` of one value.
final class NodeDecoder: Decoder {
    let node: YAMLNode
    let path: YAMLPath
    let session: DecodingSession
    /// Whether the type being decoded reads elements of one type only.
    let isHomogeneous: Bool
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var log: KeyLog?
    /// Whether someone else reports the unknown keys.
    private let isShared: Bool
    /// Decoders that the type's own initializer made for values within this one.
    private var nested: [NodeDecoder] = []

    init(_ node: YAMLNode, path: YAMLPath, session: DecodingSession, isHomogeneous: Bool, sharing log: KeyLog? = nil) {
        self.node = node
        self.path = path
        self.session = session
        self.isHomogeneous = isHomogeneous
        self.log = log
        isShared = log != nil
    }

    var codingPath: [any CodingKey] { path.codingPath }

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
        session.mismatch(type, node, path, mismatch)
    }

    /// A decoder of a value within this one, whose unknown keys are reported with this one's.
    func child(_ node: YAMLNode, _ component: ConfigurationError.Component) -> NodeDecoder {
        let child = NodeDecoder(node, path: .child(path, component), session: session, isHomogeneous: false)
        nested.append(child)
        return child
    }

    func reportUnknownKeys() {
        if let log, !isShared { log.reportUnknownKeys(in: path, to: session.unknownKeys) }
        for decoder in nested { decoder.reportUnknownKeys() }
    }

    /// An error of a type's initializer with its place found; one that has a place is passed on.
    func located(_ error: any Error, decoding type: any Any.Type) -> DecodingError {
        var failure = LocatedFailure(in: error) ?? LocatedFailure([diagnostic(for: error, decoding: type)])
        if type == SecretReference.self {
            // The line may hold a secret that someone wrote here by mistake.
            failure = LocatedFailure(failure.diagnostics.map(\.withoutExcerpt))
        }
        return .dataCorrupted(
            .init(
                codingPath: codingPath, debugDescription: failure.diagnostics.first?.message ?? "",
                underlyingError: failure))
    }

    private func diagnostic(for error: any Error, decoding type: any Any.Type) -> Diagnostic {
        if let error = error as? ConfigurationError { return node.diagnostic(for: error, path: path) }
        guard let error = error as? DecodingError, let context = error.context else {
            return node.diagnostic(String(describing: error), path: path)
        }
        let steps = context.codingPath.dropFirst(path.components.count).map { ConfigurationError.Component($0) }
        if case .keyNotFound(let key, _) = error {
            return node.descendant(steps).diagnostic(
                "missing key \(DisplayText.quoted(key.stringValue))", path: path.appending(steps).key(key.stringValue))
        }
        if steps.isEmpty, let mismatch = ClosedChoice.mismatch(type, node) {
            return node.diagnostic(mismatch.message, path: path, hint: mismatch.hint)
        }
        return node.descendant(steps).diagnostic(context.debugDescription, path: path.appending(steps))
    }

    /// The log of a mapping for another decoder of the same value; nil for a value that is no mapping.
    var sharedLog: KeyLog? { try? keyLog() }

    private func keyLog() throws -> KeyLog {
        if let log { return log }
        guard let entries = node.entries else {
            throw mismatch([String: Any].self, YAMLMismatch(expected: "a mapping", found: node))
        }
        let new = KeyLog(entries)
        log = new
        return new
    }
}
