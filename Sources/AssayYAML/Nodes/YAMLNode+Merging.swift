internal import AssayCore

extension YAMLNode {
    /// This mapping with the keys of another one beneath its own.
    ///
    /// A mapping in both is merged in the same way; anything else, lists included, is this one's. A key of the other one is left out
    /// if it is `null` here. Each key and each value keeps its place in its own file. The keys of the other one come first.
    package func merged(over base: YAMLNode) -> YAMLNode {
        guard case .mapping(let others) = base.content else { return isAbsent ? base : self }
        guard let own = entries else { return self }
        guard !own.isEmpty else { return isAbsent ? base : replacing(others) }
        var mine = Dictionary(own.map { (ExactText($0.key), $0) }, uniquingKeysWith: { first, _ in first })
        var merged: [YAMLEntry] = []
        merged.reserveCapacity(own.count + others.count)
        for other in others {
            guard let entry = mine.removeValue(forKey: ExactText(other.key)) else {
                merged.append(other)
                continue
            }
            if entry.value.isNull, !entry.value.isAbsent { continue }
            merged.append(entry.replacing(entry.value.merged(over: other.value)))
        }
        for entry in own where mine[ExactText(entry.key)] != nil { merged.append(entry) }
        return replacing(merged)
    }

    /// This mapping, in its place, with the keys of another one in the place of its own; `null` there takes a key away.
    package func overlaid(by other: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = other.merged(over: self).content else { return other }
        return replacing(entries)
    }

    /// The same mapping without some of its keys.
    package func without(_ keys: [String]) -> YAMLNode {
        guard case .mapping(let entries) = content else { return self }
        return replacing(entries.filter { !keys.contains(exactly: $0.key) })
    }

    /// The same collection with each value changed.
    package func mapValues(_ change: (YAMLEntry) -> YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = content else { return self }
        return replacing(entries.map { $0.replacing(change($0)) })
    }

    /// The same list with each element changed.
    package func mapElements(_ change: (Int, YAMLNode) -> YAMLNode) -> YAMLNode {
        guard case .sequence(let elements) = content else { return self }
        let changed = elements.enumerated().map { change($0.offset, $0.element) }
        return YAMLNode(content: .sequence(changed), source: source, position: position, end: end)
    }

    /// Whether any key or value of it is at one of these places.
    package func touches(_ places: Set<SourceLocation>) -> Bool {
        if places.contains(location) { return true }
        switch content {
        case .scalar: return false
        case .sequence(let elements): return elements.contains { $0.touches(places) }
        case .mapping(let entries):
            return entries.contains { places.contains($0.keyLocation) || $0.value.touches(places) }
        }
    }

    private func replacing(_ entries: [YAMLEntry]) -> YAMLNode {
        YAMLNode(content: .mapping(entries), source: source, position: position, end: end)
    }
}

extension YAMLEntry {
    /// The same key with another value.
    package func replacing(_ value: YAMLNode) -> YAMLEntry {
        YAMLEntry(
            key: key, value: value, keyPosition: keyPosition, keyEnd: keyEnd, keySource: keySource)
    }
}
