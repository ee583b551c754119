package import AssayCore

/// What reference pages say about this transport: made by the code that answers requests, so that both agree.
package enum HTTPReference {
    /// All metrics that it records.
    package static let metrics = [GatewayMetrics.refusals, GatewayMetrics.shed]

    /// The response to a client whose call failed.
    package struct Answer: Sendable, Hashable {
        /// The HTTP status.
        package let status: Int
        /// `error.status` of an App Check error, or `error` of an OAuth error; nil if the reply has no body.
        @Exact package private(set) var error: String?
        /// The message for the client; nil if the reply has no body.
        @Exact package private(set) var message: String?
    }

    /// The answer to a failure in a method; nil for a method without HTTP rules.
    package static func answer(to failure: CallFailure, of method: MethodDescriptor) -> Answer? {
        guard let rule = method.rules.first else { return nil }
        let reply = HTTPReply(failure, decision: DecisionID(text: ""), HTTPRoute(method, rule))
        let body = try? JSON.parse(reply.body)
        return Answer(
            status: Int(reply.status.code), error: body?["error"]?.string ?? body?["error"]?["status"]?.string,
            message: body?["error_description"]?.string ?? body?["error"]?["message"]?.string)
    }
}
