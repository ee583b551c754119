internal import AssayCore
internal import AssayYAML

extension EffectiveValue {
    /// What a section of the kernel says: each key of its type, in the type's order, as the file has it, or with its default.
    ///
    /// - Parameters:
    ///   - node: the section; nil for one that is absent.
    ///   - defaults: the defaults that depend on something else.
    ///   - known: values that are not read from the section.
    init(
        _ node: YAMLNode?, of type: any DescribedConfiguration.Type, defaults: [ExactText: String] = [:],
        known: [ExactText: EffectiveValue] = [:]
    ) {
        var members: [Member] = []
        if case .mapping(let shape) = ValueShape(of: type) {
            for field in shape.fields {
                if let value = known[field.key] {
                    members.append(Member(field.key, value))
                } else if let value = node?[field.key], !value.isNull {
                    members.append(Member(field.key, EffectiveValue(value, as: ValueShape(of: field.type))))
                } else if let text = defaults[field.key] {
                    members.append(Member(field.key, .text(text, at: nil)))
                } else if let standard = shape.descriptions[field.key]?.standard {
                    members.append(Member(field.key, .text(standard.string ?? standard.text, at: nil)))
                }
            }
        }
        self.init(.mapping(members), at: node?.location)
    }

    /// A value as a file has it, with one spelling for one meaning.
    private init(_ node: YAMLNode, as shape: ValueShape) {
        switch (node.content, shape) {
        case (.scalar(let text, _), .duration):
            self = .text(YAMLNode.duration(text).map { DurationText.exactText($0) } ?? text, at: node.location)
        case (.scalar(let text, _), .integer):
            self = .text(Int64(text).map { "\($0)" } ?? text, at: node.location)
        default: self.init(node)
        }
    }

    /// The same value with the defaults that a type declares for the keys of its mappings.
    ///
    /// - Parameters:
    ///   - isDevelopment: whether the project is for development: then the default of a key with words for development may be another one, and
    ///     is left out.
    ///   - isLeftOut: whether a type's defaults depend on what encloses it.
    package func adding(
        defaultsOf type: any Decodable.Type, isDevelopment: Bool,
        without isLeftOut: (any Decodable.Type) -> Bool = { _ in false }
    ) -> EffectiveValue {
        adding(type, isDevelopment, isLeftOut, levels: 8)
    }

    /// Types may hold themselves, so that only some levels are looked at.
    private func adding(
        _ type: any Decodable.Type, _ isDevelopment: Bool, _ isLeftOut: (any Decodable.Type) -> Bool, levels: Int
    ) -> EffectiveValue {
        guard levels > 0, !isLeftOut(type), members != nil || elements != nil else { return self }
        func inner(_ value: EffectiveValue, _ type: any Decodable.Type) -> EffectiveValue {
            value.adding(type, isDevelopment, isLeftOut, levels: levels - 1)
        }
        switch (content, ValueShape(of: type)) {
        case (.list(let elements), .list(of: let type, _)):
            return EffectiveValue(.list(elements.map { inner($0, type) }), at: location)
        case (.mapping(let members), .dictionary(of: let type)):
            return EffectiveValue(.mapping(members.map { Member($0.key, inner($0.value, type)) }), at: location)
        case (.mapping(let members), .mapping(let shape)):
            var all = members.filter { !$0.value.isStatedNull }.map { member in
                let field = shape.fields.first { $0.key.isExactly(member.key) }
                return field.map { Member(member.key, inner(member.value, $0.type)) } ?? member
            }
            let descriptions = shape.descriptions
            for field in shape.fields where !all.contains(where: { $0.key.isExactly(field.key) }) {
                guard let key = descriptions[field.key], let standard = key.standard else { continue }
                if isDevelopment, case .words = key.development { continue }
                var value = EffectiveValue(standard: standard)
                value.isDeclared = true
                all.append(Member(field.key, value))
            }
            return EffectiveValue(.mapping(all), at: location)
        default: return self
        }
    }

    /// A default as it would be written.
    private init(standard: JSON) {
        location = nil
        switch standard {
        case .string(let text):
            content = .scalar(text, isPlain: Self.isWord(text) || YAMLNode.duration(text) != nil)
        case .array(let elements): content = .list(elements.map { EffectiveValue(standard: $0) })
        case .object(let members):
            content = .mapping(members.map { Member($0.name, EffectiveValue(standard: $0.value)) })
        case .null, .bool, .integer, .number:
            content = .scalar(standard.text, isPlain: true)
        }
    }

    /// Whether text needs no quotes anywhere.
    package static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isASCIILetterOrDigit, !first.isASCIIDigit else { return false }
        let reserved = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        return text.utf8.count <= 100 && !reserved.contains(where: text.isExactlyIgnoringASCIICase)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) }
    }
}

extension JSON {
    /// The value as JSON text.
    fileprivate var text: String { String(decoding: encoded, as: UTF8.self) }
}
