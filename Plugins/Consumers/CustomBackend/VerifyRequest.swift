internal import AssayCore

/// A proxy's question about one request of its client.
struct VerifyRequest: RequestMessage {
    /// The backend's name; nil if there is only one.
    let backend: String?
    /// What a transport says that the client asked for.
    let methods: [String]
    let targets: [String]
    /// What the headers `X-Original-*` say.
    let originalMethods: [String]
    let originalTargets: [String]
    /// What the headers `X-Forwarded-*` say.
    let forwardedMethods: [String]
    let forwardedTargets: [String]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        backend = try fields.optionalString("backend")
        methods = try fields.strings("method")
        targets = try fields.strings("uri")
        originalMethods = try fields.strings("originalMethod")
        originalTargets = try fields.strings("originalUri")
        forwardedMethods = try fields.strings("forwardedMethod")
        forwardedTargets = try fields.strings("forwardedUri")
    }

    static let shape: MessageShape? = [.optional("backend", .text)]
}
