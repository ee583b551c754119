internal import AssayCore

/// Which keys of one mapping were asked for, by whomever.
final class KeyLog {
    let entries: [YAMLEntry]
    /// Whether a reader stopped in the middle of the mapping, so that the keys it would have asked for are not known.
    var isIncomplete = false
    /// The types that were decoded from the mapping.
    var types: [any Decodable.Type] = []
    private var asked: [String] = []
    private var hits: Set<Int> = []
    /// The first 64 hits, which spares most mappings the set.
    private var earlyHits: UInt64 = 0
    private lazy var places: [ExactText: Int] = Dictionary(
        entries.enumerated().map { (ExactText($0.element.key), $0.offset) }, uniquingKeysWith: { first, _ in first })

    private static let fewEntries = 16

    init(_ entries: [YAMLEntry]) {
        self.entries = entries
    }

    /// The entry of a key, which counts as known from now on.
    func entry(_ key: String) -> YAMLEntry? { index(key).map { entries[$0] } }

    /// The place of a key among the entries; the key counts as known from now on.
    func index(_ key: String) -> Int? {
        let found = position(of: key)
        if let found { hit(found) }
        // Some decoders ask for a key twice: first for its presence, then for its value.
        if !asked.last.isExactly(key) { asked.append(key) }
        return found
    }

    /// Whether a key was asked for already.
    func isKnown(_ key: String) -> Bool {
        position(of: key).map(isHit) ?? asked.contains(exactly: key)
    }

    /// Counts all keys as known, for mappings whose keys are names.
    func acceptAll() {
        for index in entries.indices { hit(index) }
    }

    /// The entries of the keys that no reader asked for, which count as known from now on.
    func acceptRest() -> [YAMLEntry] {
        let rest = entries.indices.filter { !isHit($0) }
        for index in rest { hit(index) }
        return rest.map { entries[$0] }
    }

    /// Reports a problem for each key that no reader asked for.
    func reportUnknownKeys(in path: YAMLPath, to sink: DiagnosticSink) {
        guard !isIncomplete else { return }
        let unknown = entries.indices.filter { !isHit($0) }
        guard !unknown.isEmpty else { return }
        let known = distinctAsked
        concealUnclaimed()
        for index in unknown {
            let entry = entries[index]
            sink.report(entry.unknownKey(in: path, known: known))
        }
    }

    /// For a missing key: a present key with a similar spelling that no reader asked for or will ask for.
    ///
    /// It counts as known from now on: one mistake is reported once.
    func misspelling(of key: String, known: [String]) -> YAMLEntry? {
        let unclaimed = entries.indices.lazy.filter {
            !self.isHit($0) && !known.contains(exactly: self.entries[$0].key)
        }
        .prefix(50).map { self.entries[$0].key }
        guard let near = Spelling.suggestion(for: key, among: Array(unclaimed)), let index = position(of: near) else {
            return nil
        }
        concealUnclaimed()
        hit(index)
        return entries[index]
    }

    /// If the mapping lacks a key for a secret, the secret may be under a misspelled key.
    private func concealUnclaimed() {
        let lacking = types.flatMap { type -> [MappingShape.Field] in
            guard case .mapping(let shape) = ValueShape(of: type) else { return [] }
            return shape.fields.filter { position(of: $0.key) == nil && ValueShape(of: $0.type).mayHoldSecret }
        }
        guard !lacking.isEmpty else { return }
        let lacksSecret = lacking.contains { if case .form = ValueShape(of: $0.type) { true } else { false } }
        for entry in entries.indices.lazy.filter({ !self.isHit($0) }).prefix(1000).map({ self.entries[$0] }) {
            let near = Spelling.suggestion(for: entry.key, among: lacking.map(\.key))
            if lacksSecret || !near.isNil { entry.value.conceal() }
        }
    }

    private var distinctAsked: [String] {
        var seen: Set<ExactText> = []
        return asked.filter { seen.insert(ExactText($0)).inserted }
    }

    private func hit(_ index: Int) {
        if index < UInt64.bitWidth { earlyHits |= 1 << UInt64(index) } else { hits.insert(index) }
    }

    private func isHit(_ index: Int) -> Bool {
        index < UInt64.bitWidth ? earlyHits & (1 << UInt64(index)) != 0 : hits.contains(index)
    }

    private func position(of key: String) -> Int? {
        entries.count <= Self.fewEntries ? entries.firstIndex { $0.key.isExactly(key) } : places[ExactText(key)]
    }
}

extension YAMLEntry {
    /// The problem of a key with nothing behind it, in a mapping whose keys have meanings.
    ///
    /// It may be the rest of an edit, such as a list whose elements were removed, and what holds without the key is often
    /// more than what the list allowed.
    package func lacksValue(in path: YAMLPath) -> Diagnostic {
        diagnostic(
            "has no value", in: path, hint: "write one, or leave the key out; `null` means the same as leaving it out")
    }

    /// The problem of an unknown key.
    ///
    /// - Parameters:
    ///   - path: the path of its mapping.
    ///   - known: the allowed keys, of which the nearest is suggested.
    package func unknownKey(in path: YAMLPath, known: [String]) -> Diagnostic {
        diagnostic(
            "unknown key \(DisplayText.quoted(key))", in: path, hint: Spelling.hint(for: key, among: known))
    }
}
