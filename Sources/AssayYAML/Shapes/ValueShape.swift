package import AssayCore

/// The form of a type in a policy file, found by letting the type decode samples, so that it is not written twice.
package enum ValueShape {
    /// Any text.
    case text
    /// Text of a form that the type declares.
    case form(TextForm)
    /// One of a few words.
    case choice([String])
    case bool
    case integer
    case number
    case duration
    case list(of: any Decodable.Type, isSet: Bool)
    /// A mapping whose keys are names.
    case dictionary(of: any Decodable.Type)
    case mapping(MappingShape)
    /// A mapping whose keys are known as values.
    case declared(DeclaredShape)
    /// Something whose decoding cannot be followed.
    case opaque

    package init(of type: any Decodable.Type) {
        self = ValueShape(known: type) ?? ValueShape(probing: type)
    }

    /// The shape of a known type; nil for one that decodes itself.
    init?(known type: any Decodable.Type) {
        if let form = (type as? any WrittenAsText.Type)?.textForm {
            self = .form(form)
        } else if let simple = Self.simple(type) {
            self = simple
        } else if let optional = type as? any OptionalShape.Type {
            self = ValueShape(of: optional.wrappedType)
        } else if let list = type as? any ListShape.Type {
            self = .list(of: list.elementType, isSet: list.isSet)
        } else if let dictionary = type as? any DictionaryShape.Type {
            self = .dictionary(of: dictionary.valueType)
        } else if let names = ClosedChoice.names(of: type) {
            self = .choice(names)
        } else {
            return nil
        }
    }

    private init(probing type: any Decodable.Type) {
        let runs = Sample.Variant.allCases.map { Probe.run(type, $0) }
        if let shape = MappingShape(type, runs) {
            self = .mapping(shape)
        } else if let whole = runs.first?.log.wholes.first, !runs.contains(where: \.log.isOpaque) {
            self = ValueShape(known: whole) ?? .opaque
        } else {
            self = .opaque
        }
    }

    /// Whether a value of the type can be, or can have within it, a secret that was written in the wrong place.
    package var mayHoldSecret: Bool { mayHoldSecret(levels: 8) }

    /// Whether a value of a type may contain a secret; computed only after an error, since it examines the whole type.
    static func mayHoldSecret(_ type: any Any.Type) -> Bool {
        (type as? any Decodable.Type).map { ValueShape(of: $0).mayHoldSecret } ?? false
    }

    /// Types may hold themselves, so that only some levels are looked at.
    private func mayHoldSecret(levels: Int) -> Bool {
        guard levels > 0 else { return false }
        return switch self {
        case .form(let form): form.mayBeSecret
        case .list(let element, _): ValueShape(of: element).mayHoldSecret(levels: levels - 1)
        case .dictionary(let value): ValueShape(of: value).mayHoldSecret(levels: levels - 1)
        case .mapping(let shape):
            shape.fields.contains { ValueShape(of: $0.type).mayHoldSecret(levels: levels - 1) }
        case .declared(let shape): shape.mayHoldSecret
        default: false
        }
    }

    private static func simple(_ type: any Any.Type) -> ValueShape? {
        if type == String.self { return .text }
        if type == Bool.self { return .bool }
        if type == Duration.self { return .duration }
        if type == Double.self || type == Float.self { return .number }
        if type is any FixedWidthInteger.Type { return .integer }
        return nil
    }
}

/// The message for a value that is not a case of an enumeration.
enum ClosedChoice {
    /// A message that lists the raw values; nil for a type that is not an enumeration of strings.
    static func mismatch(_ type: any Any.Type, _ node: YAMLNode) -> YAMLMismatch? {
        guard let names = names(of: type) else { return nil }
        var hint: String?
        if case .scalar(let text, _) = node.content {
            hint = Spelling.guess(for: text, among: names) ?? levels(for: text, among: names)
        }
        let listed = names.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        let expected = names.count == 1 ? listed : "one of \(listed)\(names.count > 20 ? ", …" : "")"
        return YAMLMismatch(expected: expected, found: node, hint: hint)
    }

    /// What each level means, for a level that is written as a switch.
    private static func levels(for text: String, among names: [String]) -> String? {
        guard ["OFF", "UNENFORCED", "ENFORCED"].allSatisfy({ names.contains(exactly: $0) }) else { return nil }
        if ["false", "no", "n", "0", "none", "disabled"].contains(where: text.isExactlyIgnoringASCIICase) {
            return "did you mean `OFF`?"
        }
        let hasSwitch = ["true", "yes", "y", "on", "1", "enabled"].contains(where: text.isExactlyIgnoringASCIICase)
        return (hasSwitch ? "did you mean `ENFORCED`? " : "")
            + "`ENFORCED` refuses requests without a valid token, `UNENFORCED` only counts them, `OFF` does neither"
    }

    /// The raw values; nil for a type that is not an enumeration of strings.
    static func names(of type: any Any.Type) -> [String]? {
        let names = (type as? any CaseIterable.Type).map { rawValues(of: $0) } ?? []
        return names.isEmpty ? nil : names
    }

    private static func rawValues<T: CaseIterable>(of type: T.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
    }
}
