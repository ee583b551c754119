internal import AssayCore
internal import AssayYAML

/// The fields that requests of a method may have, where all others are refused.
///
/// A misspelled filter of a list would otherwise find everything, and a misspelled end of an entry would be none.
package struct ClosedRequest: Sendable {
    private let method: MethodDescriptor
    private let shape: MessageShape

    /// Nil for a method that does not say which fields it reads.
    init?(_ method: MethodDescriptor) {
        guard let shape = method.request else { return nil }
        (self.method, self.shape) = (method, shape)
    }

    /// What is wrong with the names of a request; nil when nothing is.
    func refusal(of body: JSON) -> InvalidRequest? { refusal(of: body, shape, path: "") }

    /// - Parameter path: where the message is in the request; empty for the request itself.
    private func refusal(of message: JSON, _ shape: MessageShape, path: String) -> InvalidRequest? {
        guard !shape.isOpen, let members = message.members else { return nil }
        // Once for a message, which may have one of them thousands of times.
        lazy var others = path.isEmpty ? further : []
        for member in members {
            guard let field = shape.fields.first(where: { RequestFields.isSpelling(member.name, of: $0.name) }) else {
                if others.contains(where: { RequestFields.isSpelling(member.name, of: $0) }) { continue }
                let isSnake = member.name.utf8.contains(UInt8(ascii: "_"))
                let names = (shape.fields.map(\.name) + others).map { isSnake ? $0.snakeCased : $0 }
                let hint = Spelling.hint(for: member.name, among: names).map { "; \($0)" } ?? ""
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

    /// The fields that the kernel reads itself, and those that come from a path or a header.
    private var further: [String] {
        var names: [String] = []
        if case .exchange = method.kind { names.append("limitedUse") }
        if method.takesTokenID { names.append("jti") }
        names += method.binding.requestHeaders.map(\.field) + [method.binding.verbField].compactMap(\.self)
        // The versions of the API have the same variables.
        return names + Set(method.rules.flatMap { Self.variables(of: $0.template) }.map { ExactText($0) }).map(\.string)
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
