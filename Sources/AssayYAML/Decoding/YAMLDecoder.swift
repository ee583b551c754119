internal import AssayCore

/// Decodes any `Decodable` type from a located value.
///
/// Keys that the type does not ask for are errors. Every error becomes a diagnostic at the value it is about, with the
/// path of keys from the root: those of `DecodingError`, `ConfigurationError` with its path relative to the value whose
/// type threw it, and any other error in its own words. After a failed element of a sequence, or a failed key of a
/// mapping, the others are still checked, as long as the keys that the type asks for do not depend on values.
/// `Duration` is read from text such as `1h30m`.
package struct YAMLDecoder {
    package init() {}

    /// The value of a node; `path` is the node's own, for messages.
    package func decode<T: Decodable>(
        _ type: T.Type, from node: YAMLNode, path: YAMLPath = .root
    ) throws(Diagnostics) -> T {
        let sink = DiagnosticSink()
        let value = decode(type, from: node, path: path, log: nil, into: sink)
        try sink.throwIfAny()
        guard let value else { throw Diagnostics(node.diagnostic("cannot be read", path: path)) }
        return value
    }

    /// Reports into a sink; with a log, keys are shared with other readers of the mapping, which report unknown ones.
    func decode<T: Decodable>(
        _ type: T.Type, from node: YAMLNode, path: YAMLPath, key: PolicyKey? = nil, log: KeyLog?,
        into sink: DiagnosticSink
    ) -> T? {
        let session = DecodingSession()
        defer { if let found = session.reports.diagnostics { sink.report(found) } }
        do {
            guard let log else { return try session.decode(type, from: node, at: path, key: key) }
            let decoder = NodeDecoder(node, path: path, session: session, decoding: type, sharing: log)
            do {
                return try T(from: decoder)
            } catch {
                throw decoder.error(decoder.completed(decoder.failure(for: error)))
            }
        } catch {
            for diagnostic in LocatedFailure(in: error)?.diagnostics ?? [] { sink.report(diagnostic) }
            return nil
        }
    }
}
