package import AssayCore
package import AssayYAML

/// A value of an effective policy: what holds after profiles, teams, issuers, stages and defaults are applied.
///
/// Each value keeps its place.
package struct EffectiveValue: Sendable {
    package enum Content: Sendable {
        /// Text, and whether it is written without quotes.
        case scalar(String, isPlain: Bool)
        /// Text that may be a secret, and is not shown.
        case concealed
        case list([EffectiveValue])
        case mapping([Member])
    }

    /// A key and its value.
    package struct Member: Sendable {
        @Exact package private(set) var key: String
        package var value: EffectiveValue

        package init(_ key: String, _ value: EffectiveValue) {
            self.key = key
            self.value = value
        }
    }

    package var content: Content
    /// Where it is stated; nil for a default.
    package internal(set) var location: SourceLocation?
    /// Whether it is a default that a plugin declares, which it may refuse where another key is absent.
    package var isDeclared = false

    package init(_ content: Content, at location: SourceLocation?) {
        self.content = content
        self.location = location
    }

    /// A value as a file has it.
    package init(_ node: YAMLNode) {
        location = node.location
        switch node.content {
        case .scalar(let text, let isPlain): content = node.isConcealed ? .concealed : .scalar(text, isPlain: isPlain)
        case .sequence(let elements): content = .list(elements.map { EffectiveValue($0) })
        case .mapping(let entries):
            content = .mapping(entries.map { Member($0.key, EffectiveValue($0.value)) })
        }
    }

    /// Text, a number or a truth value, as a policy would write it.
    package static func text(_ text: String, at location: SourceLocation?) -> EffectiveValue {
        EffectiveValue(.scalar(text, isPlain: true), at: location)
    }

    /// The pairs of a mapping; nil for all other values.
    package var members: [Member]? {
        if case .mapping(let members) = content { members } else { nil }
    }

    /// The elements of a list; nil for all other values.
    package var elements: [EffectiveValue]? {
        if case .list(let elements) = content { elements } else { nil }
    }

    /// The text of a scalar; nil for all other values, and for what is not shown.
    package var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    package subscript(key: String) -> EffectiveValue? {
        members?.first { $0.key.isExactly(key) }?.value
    }

    /// Whether it is `null` in so many letters, which counts as absent.
    package var isStatedNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["~", "null", "Null", "NULL"].contains(exactly: text)
    }

    /// The same mapping with a key at its beginning, in the place of one that it has; one that was left out counts as empty.
    func beginning(with key: String, _ value: EffectiveValue) -> EffectiveValue {
        let others = (members ?? []).filter { !$0.key.isExactly(key) }
        return EffectiveValue(.mapping([Member(key, value)] + others), at: location)
    }

    /// The same mapping without some of its keys; one that was left out counts as empty.
    func without(_ keys: [String]) -> EffectiveValue {
        EffectiveValue(.mapping((members ?? []).filter { !keys.contains(exactly: $0.key) }), at: location)
    }
}

extension EffectiveValue {
    /// The longest text of a value in a line.
    private static let longest = 160
    /// The longest text that is shown whole: a SHA-256 in hexadecimal.
    private static let longestScalar = 64
    /// How much of the end of a longer one is shown: the ends of similar texts often differ.
    private static let tail = 12

    /// The value on one short line, for people.
    package var short: String {
        var text = ""
        write(to: &text)
        guard text.unicodeScalars.count > Self.longest else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.longest))) + "…"
    }

    private func write(to text: inout String) {
        // What is cut off need not be written.
        guard text.utf8.count <= 4 * Self.longest else { return }
        switch content {
        case .scalar(let scalar, _): text += Self.shown(scalar)
        case .concealed: text += "(not shown)"
        case .list(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.write(to: &text)
            }
            text += "]"
        case .mapping(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                text += "\(index > 0 ? ", " : "")\(Self.shown(member.key)): "
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    /// Text that steers no terminal and is short: of a long one, the beginning and the end.
    static func shown(_ text: String) -> String {
        let isShort = text.unicodeScalars.dropFirst(longestScalar).isEmpty
        guard !isShort else { return safe(text.unicodeScalars[...]) }
        let head = text.unicodeScalars.prefix(longestScalar - tail - 1)
        return "\(safe(head))…\(safe(text.unicodeScalars.suffix(tail)))"
    }

    private static func safe(_ scalars: Substring.UnicodeScalarView) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
