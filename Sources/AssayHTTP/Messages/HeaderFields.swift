internal import AssayKit
internal import NIOHTTP1

/// The fields of a request message that come from its head.
struct HeaderFields {
    private let binding: HTTPBinding

    init(_ binding: HTTPBinding) {
        self.binding = binding
    }

    /// Where a field is in the message already, there are two of it then, which no reader takes.
    func added(to message: JSON, verb: String, _ headers: HTTPHeaders) -> JSON {
        guard !binding.requestHeaders.isEmpty || !binding.verbField.isNil else { return message }
        var members = message.members ?? []
        if let field = binding.verbField { members.append(JSONMember(field, .string(verb))) }
        for header in binding.requestHeaders {
            let values = headers[header.name]
            switch values.count {
            case 0: continue
            case 1: members.append(JSONMember(header.field, .string(values[0])))
            default: members.append(JSONMember(header.field, .array(values.map { .string($0) })))
            }
        }
        return .object(members)
    }
}

extension PresentedToken {
    /// The headers in which proxies say what their client asked for.
    private static let targets = ["x-forwarded-uri", "x-original-uri", "x-original-url"]

    /// What a request shows as its App Check token.
    init?(headers: HTTPHeaders, target: String) {
        var targets = [target]
        for name in PresentedToken.targets { targets += headers[name] }
        self.init(headers["x-firebase-appcheck"], targets: targets)
    }
}
