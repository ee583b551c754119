internal import AssayCore

/// A sequence or a mapping whose end has not been seen.
struct OpenCollection {
    let isMapping: Bool
    let anchor: String?
    let position: YAMLPosition
    /// How many values the document had before this one.
    let countBefore: Int
    private(set) var elements: [YAMLNode] = []
    private(set) var entries: [YAMLEntry] = []
    /// The levels below, this one included.
    private(set) var height = 1
    private(set) var key: String?
    private(set) var keyPosition = YAMLPosition.start
    private var keyEnd = YAMLPosition.start
    /// The keys so far, once they are too many to be compared one by one.
    private var index: [ExactText: YAMLPosition] = [:]

    private static let fewKeys = 16

    init(isMapping: Bool, anchor: String?, position: YAMLPosition, countBefore: Int) {
        self.isMapping = isMapping
        self.anchor = anchor
        self.position = position
        self.countBefore = countBefore
    }

    /// Whether the next value is a key.
    var expectsKey: Bool { isMapping && key.isNil }

    /// The step from here to the value that comes next.
    var place: ConfigurationError.Component {
        isMapping ? .key(key ?? "") : .index(elements.count)
    }

    /// Adds a key; returns where the same key was before.
    mutating func begin(key: String, at position: YAMLPosition, to end: YAMLPosition) -> YAMLPosition? {
        let first = firstPosition(of: key)
        self.key = key
        keyPosition = position
        keyEnd = end
        return first
    }

    /// Adds a value.
    mutating func add(_ node: YAMLNode, height childHeight: Int) {
        height = max(height, childHeight + 1)
        guard isMapping else {
            elements.append(node)
            return
        }
        guard let key else { return }
        entries.append(
            YAMLEntry(
                key: key, value: node, keyPosition: keyPosition, keyEnd: keyEnd, keySource: node.source))
        if entries.count == Self.fewKeys {
            for entry in entries { index[ExactText(entry.key)] = entry.keyPosition }
        } else if entries.count > Self.fewKeys, index[ExactText(key)] == nil {
            index[ExactText(key)] = keyPosition
        }
        self.key = nil
    }

    private func firstPosition(of key: String) -> YAMLPosition? {
        guard entries.count < Self.fewKeys else { return index[ExactText(key)] }
        return entries.first { $0.key.isExactly(key) }?.keyPosition
    }
}
