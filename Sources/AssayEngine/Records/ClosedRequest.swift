internal import AssayCore
internal import AssayYAML

/// The fields that requests of a method may have, where the method refuses all others.
///
/// A misspelled filter of a list would otherwise find everything, and a misspelled end of an entry would be none.
package struct ClosedRequest: Sendable {
    private let shape: MessageShape

    /// Nil for a method that ignores unknown fields.
    init?(_ method: MethodDescriptor) {
        guard method.refusesUnknownFields else { return nil }
        var fields = method.request?.fields ?? []
        if case .exchange = method.kind { fields.append(.optional("limitedUse", .boolean)) }
        if method.takesTokenID { fields.append(.optional("jti", .text)) }
        // The versions of the API have the same variables.
        let variables = Set(method.rules.flatMap { Self.variables(of: $0.template) }.map { ExactText($0) })
        let others =
            variables.map(\.string) + method.binding.requestHeaders.map(\.field)
            + [method.binding.verbField].compactMap(\.self)
        shape = MessageShape(fields + others.map { .optional($0, .text) })
    }

    /// What is wrong with the names of a request; nil when nothing is.
    func refusal(of body: JSON) -> InvalidRequest? {
        Self.refusal(of: body, shape, path: "")
    }

    private static func refusal(of message: JSON, _ shape: MessageShape, path: String) -> InvalidRequest? {
        guard !shape.isOpen, let members = message.members else { return nil }
        for member in members {
            guard let field = shape.fields.first(where: { $0.isNamed(member.name) }) else {
                let names = shape.fields.map(\.name)
                let hint = Spelling.hint(for: member.name.camelCased, among: names).map { "; \($0)" } ?? ""
                return InvalidRequest("unknown field '\(path)\(SafeText.of(member.name))'\(hint)")
            }
            switch field.kind {
            case .message(let inner):
                if let found = refusal(of: member.value, inner, path: "\(path)\(field.name).") { return found }
            case .list(.message(let inner), _):
                for element in member.value.array ?? [] {
                    if let found = refusal(of: element, inner, path: "\(path)\(field.name).") { return found }
                }
            default: break
            }
        }
        return nil
    }

    /// The variables of a path that become fields: all but the resource.
    private static func variables(of template: String) -> [String] {
        template.split(onASCII: "{").dropFirst().compactMap { part in
            let name = part.utf8.prefix { $0 != UInt8(ascii: "}") && $0 != UInt8(ascii: "=") }
            let text = String(Substring(name))
            return text.isExactly("resource") ? nil : text
        }
    }
}

extension MessageField {
    /// Whether a name in a request is that of the field, in either spelling.
    fileprivate func isNamed(_ text: String) -> Bool { name.isExactly(text) || name.snakeCased.isExactly(text) }
}

extension String {
    /// A name in snake_case as proto3 JSON spells it, for comparisons with such names.
    fileprivate var camelCased: String {
        var result: [UInt8] = []
        var isStart = false
        for byte in utf8 {
            if byte == UInt8(ascii: "_") {
                isStart = true
            } else {
                result.append(isStart && byte.isASCIILowercase ? byte & ~0x20 : byte)
                isStart = false
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
