/// An App Check token as a client assertion, which an authorization request of a sign-in has as parameters (Google
/// Sign-In for iOS).
///
/// A token in a URL is seen by others, and so it is good for one use.
public struct ClientAssertion: Sendable {
    /// `client_assertion_type`.
    public let type = "urn:ietf:params:oauth:client-assertion-type:appcheck"
    /// `client_assertion`: the App Check token.
    public let text: String

    /// The two parameters of the authorization request, not escaped.
    public var parameters: [(name: String, value: String)] {
        [("client_assertion_type", type), ("client_assertion", text)]
    }

    /// An authorization request with the two parameters.
    ///
    /// - Parameter url: the authorization endpoint with the request's other parameters, without a fragment.
    /// - Throws: `insecure` for a URL without TLS, and for one that has an assertion already.
    public func adding(to url: String) throws(AppCheckError) -> String {
        guard let address = ServerAddress(url), !url.utf8.hasRun("client_assertion".utf8) else {
            throw AppCheckError(
                .insecure,
                "The authorization request is a URL with https of at most 2048 characters, without a fragment and "
                    + "without a client assertion.")
        }
        let separator = address.target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        let query = parameters.map { "\($0.name)=\(PathSegment.encode($0.value))" }.joined(separator: "&")
        return "\(url)\(separator)\(query)"
    }
}

extension AppCheck {
    /// A client assertion with a new limited-use token, for one authorization request.
    ///
    /// App Check's SDK for Apple's systems returns a placeholder when it gets no token, and Google Sign-In sends that.
    /// Here there is an error instead: sign in without an assertion, or tell the user.
    ///
    /// - Throws: the errors of ``limitedUseToken()``.
    public nonisolated(nonsending) func clientAssertion() async throws(AppCheckError) -> ClientAssertion {
        ClientAssertion(text: try await limitedUseToken().text)
    }
}

extension ClientAssertion: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the token itself, so that it gets into no log.
    public var description: String { "ClientAssertion(\(text.utf8.count) bytes)" }
    /// The same.
    public var debugDescription: String { description }
}
