internal import AssayCore

/// A mapping that is read key by key, and that knows in the end which keys no reader asked for.
///
/// Several readers may share it: the loader takes its own keys, a plugin's configuration is decoded from the same
/// mapping, and then `finish()` reports what neither of them asked for.
package final class YAMLMapping {
    package let value: YAMLValue
    private let log: KeyLog

    init(_ value: YAMLValue, _ entries: [YAMLEntry]) {
        self.value = value
        log = KeyLog(entries)
    }

    package var path: YAMLPath { value.path }
    package var location: SourceLocation { value.location }

    /// The value of a key; nil when it is missing or null, or has no value, which is reported.
    package func optional(_ key: String) -> YAMLValue? {
        guard let entry = log.entry(key) else { return nil }
        if entry.value.isAbsent { value.sink.report(entry.lacksValue(in: path)) }
        return entry.value.isNull ? nil : child(entry)
    }

    /// The value of a key, null included; a missing one is reported.
    package func required(_ key: String) -> YAMLValue? {
        guard let value = stated(key) else {
            value.sink.report(Self.missing(key, in: value.node, path: path, log: log))
            return nil
        }
        return value
    }

    /// The value of a key, null included; nil when it is missing.
    package func stated(_ key: String) -> YAMLValue? {
        log.entry(key).map { child($0) }
    }

    /// The decoded value of a key; nil when it is missing, null, or wrong, which is reported.
    package func optional<T: Decodable>(_ key: String, as type: T.Type) -> T? {
        optional(key)?.decode(type)
    }

    /// The decoded value of a key; nil when it is missing or wrong, which is reported.
    package func required<T: Decodable>(_ key: String, as type: T.Type) -> T? {
        required(key)?.decode(type)
    }

    /// Every key and its value in the order of the file, for mappings whose keys are names; all count as asked for.
    package func all() -> [(entry: YAMLEntry, value: YAMLValue)] {
        log.acceptAll()
        return log.entries.map { ($0, child($0)) }
    }

    /// The keys that no reader asked for, in the order of the file; all count as asked for.
    package func rest() -> [YAMLEntry] { log.acceptRest() }

    /// Decodes this same mapping; the keys that the type asks for count as known.
    ///
    /// Its own `finish()` is still due.
    package func decode<T: Decodable>(_ type: T.Type) -> T? {
        YAMLDecoder().decode(type, from: value.node, path: path, log: log, into: value.sink)
    }

    /// Reports a problem with a key, at the key; a key that is not in the file is shown at the mapping.
    package func report(_ message: String, key: String, hint: String? = nil, related: [Diagnostic.Note] = []) {
        guard let entry = log.entries.first(where: { $0.key.isExactly(key) }) else {
            value.sink.report(value.node.diagnostic(message, path: path.key(key), hint: hint, related: related))
            return
        }
        value.sink.report(entry.diagnostic(message, in: path, hint: hint, related: related))
    }

    /// Reports every key that no reader asked for, unless a reader stopped early and has reported an error.
    package func finish() {
        log.reportUnknownKeys(in: path, to: value.sink)
    }

    private func child(_ entry: YAMLEntry) -> YAMLValue {
        YAMLValue(entry.value, path: path.key(entry.key), sink: value.sink)
    }

    /// The problem of a missing key; if it seems to be misspelled, the message says that.
    ///
    /// - Parameter known: keys that no reader has asked for yet, but one will.
    static func missing(
        _ key: String, in node: YAMLNode, path: YAMLPath, log: KeyLog, known: [String] = []
    ) -> Diagnostic {
        guard let near = log.misspelling(of: key, known: known) else {
            return node.diagnostic("missing key \(DisplayText.quoted(key))", path: path.key(key))
        }
        return near.diagnostic(
            "unknown key \(DisplayText.quoted(near.key))", in: path,
            hint: "did you mean \(DisplayText.quoted(key)), which is missing?")
    }
}
