public import AssayCore

/// A genuine "no" of a server that a plugin asks: the request must be refused then, with a declared reason.
///
/// A status of 401, 403 or 429 is the operator's matter: the server refuses the plugin's own credentials, or asks for fewer calls.
/// A suite expects that nothing is decided then, unless a denial has this status.
public struct UpstreamDenial: Sendable {
    /// What the server says, for findings: `the token is unknown`.
    public var what: String
    /// The response.
    public var response: OutboundResponse
    /// Which requests get this response; the others are answered as ever, such as one for an access token.
    public var matches: @Sendable (OutboundRequest) -> Bool

    /// Describes a denial; by default of every request.
    public init(
        _ what: String, _ response: OutboundResponse,
        matches: @escaping @Sendable (OutboundRequest) -> Bool = { _ in true }
    ) {
        self.what = what
        self.response = response
        self.matches = matches
    }
}
