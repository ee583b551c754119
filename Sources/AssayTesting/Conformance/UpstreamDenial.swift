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

    /// Describes a denial.
    public init(_ what: String, _ response: OutboundResponse) {
        self.what = what
        self.response = response
    }
}
