package import AssayCore
package import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// A request of a proxy's client, as the proxy asks about it.
package struct ProxiedCall: Sendable {
    /// The HTTP method.
    @Exact package private(set) var verb: String
    /// The path with its query.
    @Exact package private(set) var target: String
    /// The backend; nil where there is only one.
    @Exact package private(set) var backend: String?

    /// - Parameter line: an HTTP method and a path, such as `POST /payments/1`; other text has no call.
    package init?(_ line: String, to backend: String?) {
        let parts = line.split(onASCII: " ").map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].starts(withExactly: "/") else { return nil }
        verb = parts[0]
        target = parts[1]
        self.backend = backend
    }

    /// - Parameter decision: the record of a decision about a request; without its method and its path there is no call, nor with
    ///   several of them.
    init?(recorded decision: RecordedDecision, to backend: String?) {
        guard let method = decision.fact(.requestMethod), let path = decision.fact(.requestPath),
            method.utf8.allSatisfy(\.isASCIILetterOrDigit), path.utf8.count < Self.longestRecorded,
            !path.utf8.contains(UInt8(ascii: ","))
        else { return nil }
        verb = method
        target = path
        self.backend = backend
    }

    /// Longer paths may be cut in the record.
    private static let longestRecorded = 500

    /// The call that asks about it, wherever a policy says that the proxy puts the method and the path; nil for a program in
    /// which no method decides about requests of a proxy.
    package func call(in registry: Registry, on resource: String, by caller: String? = nil) -> ExplainedCall? {
        guard let method = registry.methods.first(where: { $0.takesToken && $0.binding.proxied != nil }),
            let fields = fields(for: method)
        else { return nil }
        return ExplainedCall(method.name, on: resource, by: caller, fields: fields)
    }

    /// The fields of the request message of a method; nil for one that does not decide about requests of a proxy.
    func fields(for method: MethodDescriptor) -> JSON? {
        guard let proxied = method.binding.proxied else { return nil }
        var fields = [JSONMember(proxied.method, .string(verb)), JSONMember(proxied.target, .string(target))]
        for header in method.binding.requestHeaders {
            if header.name.ends(withExactly: "-method") { fields.append(JSONMember(header.field, .string(verb))) }
            if header.name.ends(withExactly: "-uri") { fields.append(JSONMember(header.field, .string(target))) }
        }
        if let backend { fields.append(JSONMember(proxied.backend, .string(backend))) }
        return .object(fields)
    }
}
