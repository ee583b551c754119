internal import AssayCore
internal import AssayYAML

/// Compares what a thing says in two sets of policies, key by key.
struct TreeComparison {
    let subject: PolicyChange.Subject
    let name: String
    private(set) var changes: [PolicyChange] = []
    private(set) var omitted = 0

    private static let limit = 200
    /// The keys whose lists have no order.
    private static let unordered = ["permissions", "projects", Comparison.among.rawValue, Comparison.notAmong.rawValue]

    init(subject: PolicyChange.Subject, name: String) {
        self.subject = subject
        self.name = name
    }

    mutating func compare(_ old: EffectiveValue, _ new: EffectiveValue, at path: YAMLPath) {
        switch (old.content, new.content) {
        case (.mapping(let left), .mapping(let right)): compare(left, right, at: path)
        case (.list(let left), .list(let right)): compare(left, right, (old, new), at: path)
        case (.scalar(let left, _), .scalar(let right, _)):
            if !left.isExactly(right) { add(.changed, path, old, new) }
        // What is not shown cannot be told apart.
        case (.concealed, .concealed): add(.changed, path, old, new)
        default:
            if !old.isEmpty || !new.isEmpty { add(.changed, path, old, new) }
        }
    }

    private mutating func compare(
        _ left: [EffectiveValue.Member], _ right: [EffectiveValue.Member], at path: YAMLPath
    ) {
        let (left, right) = (left.filter { !$0.value.isStatedNull }, right.filter { !$0.value.isStatedNull })
        var others = Dictionary(right.map { (ExactText($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        for member in left {
            if let other = others.removeValue(forKey: ExactText(member.key)) {
                compare(member.value, other, at: path.key(member.key))
            } else {
                add(.removed, path.key(member.key), member.value, nil)
            }
        }
        for member in right where others[ExactText(member.key)] != nil {
            add(.added, path.key(member.key), nil, member.value)
        }
    }

    private mutating func compare(
        _ left: [EffectiveValue], _ right: [EffectiveValue], _ whole: (old: EffectiveValue, new: EffectiveValue),
        at path: YAMLPath
    ) {
        if let before = Self.names(left), let after = Self.names(right), !(left.isEmpty && right.isEmpty) {
            let named = { (names: [ExactText], values: [EffectiveValue]) in
                zip(names, values).map { EffectiveValue.Member($0.string, $1) }
            }
            compare(named(before, left), named(after, right), at: path)
            let common = Set(before).intersection(after)
            compareOrder(before.filter(common.contains), after.filter(common.contains), whole, at: path)
        } else if let before = Self.texts(left), let after = Self.texts(right) {
            compareTexts(zip(before, left).map { ($0, $1) }, zip(after, right).map { ($0, $1) }, whole, at: path)
        } else {
            for index in 0..<max(left.count, right.count) {
                let inner = path.index(index)
                switch (index < left.count, index < right.count) {
                case (true, true): compare(left[index], right[index], at: inner)
                case (true, false): add(.removed, inner, left[index], nil)
                default: add(.added, inner, nil, right[index])
                }
            }
        }
    }

    /// Lists of texts: what was added and removed; the order, if nothing was.
    private mutating func compareTexts(
        _ left: [(text: ExactText, value: EffectiveValue)], _ right: [(text: ExactText, value: EffectiveValue)],
        _ whole: (old: EffectiveValue, new: EffectiveValue), at path: YAMLPath
    ) {
        var counts: [ExactText: Int] = [:]
        for (text, _) in right { counts[text, default: 0] += 1 }
        var isSame = true
        for (text, value) in left {
            if let count = counts[text], count > 0 {
                counts[text] = count - 1
            } else {
                isSame = false
                add(.removed, path, value, nil)
            }
        }
        // Of equal texts, the last ones are the new ones.
        var added: [EffectiveValue] = []
        for (text, value) in right.reversed() {
            guard let count = counts[text], count > 0 else { continue }
            counts[text] = count - 1
            added.append(value)
        }
        for value in added.reversed() { add(.added, path, nil, value) }
        if isSame, added.isEmpty { compareOrder(left.map(\.text), right.map(\.text), whole, at: path) }
    }

    private mutating func compareOrder(
        _ left: [ExactText], _ right: [ExactText], _ whole: (old: EffectiveValue, new: EffectiveValue),
        at path: YAMLPath
    ) {
        guard left != right else { return }
        if case .key(let key)? = path.components.last, Self.unordered.contains(exactly: key) { return }
        func words(_ names: [ExactText], _ value: EffectiveValue) -> EffectiveValue {
            EffectiveValue(.list(names.map { .text($0.string, at: nil) }), at: value.location)
        }
        add(.changed, path, words(left, whole.old), words(right, whole.new))
    }

    private mutating func add(
        _ kind: PolicyChange.Kind, _ path: YAMLPath, _ old: EffectiveValue?, _ new: EffectiveValue?
    ) {
        guard changes.count < Self.limit else {
            omitted += 1
            return
        }
        changes.append(
            PolicyChange(
                subject: subject, name: name, kind: kind, path: path.description,
                old: old.map { PolicyChange.Value($0.short, at: $0.location) },
                new: new.map { PolicyChange.Value($0.short, at: $0.location) }))
    }

    /// The names of elements that have one each, by which they are compared; nil for other lists.
    private static func names(_ elements: [EffectiveValue]) -> [ExactText]? {
        let names = elements.compactMap { element in
            (element["name"]?.text ?? element["id"]?.text).map { ExactText($0) }
        }
        return names.count == elements.count && Set(names).count == names.count ? names : nil
    }

    /// The texts of elements that are nothing else; nil for other lists.
    private static func texts(_ elements: [EffectiveValue]) -> [ExactText]? {
        let texts = elements.compactMap { $0.text.map { ExactText($0) } }
        return texts.count == elements.count ? texts : nil
    }
}

extension EffectiveValue {
    /// Whether it says nothing: left out, or without any key or element.
    fileprivate var isEmpty: Bool {
        switch content {
        case .scalar(let text, let isPlain): isPlain && text.isEmpty
        case .concealed: false
        case .list(let elements): elements.isEmpty
        case .mapping(let members): members.isEmpty
        }
    }
}
