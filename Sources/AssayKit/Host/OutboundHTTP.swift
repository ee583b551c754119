/// Calls other servers over HTTP: Apple's, an issuer of keys, a backend of the operator's.
///
/// An implementer keeps these promises:
///
/// - the server's certificate is verified, for the name in the URL, wherever the URL says `https`;
/// - redirects are not followed: a 3xx is a response like any other;
/// - a call ends within the request's time limit, whatever the server does, and at once when its task is cancelled;
/// - no more of a body than the request allows is kept, and a longer one is a failure, never cut off;
/// - nothing is tried twice that the server may have seen: whether to try again is for the caller to say;
/// - any number of calls may run at once; connections to one server are limited, and further calls wait for one.
///
/// Any status is a response. A failure means that there is none. It is a class because it has an identity: what is known
/// of a server, such as that it is down, is known of it as called through one client.
public protocol OutboundHTTP: AnyObject, Sendable {
    /// Sends a request and returns the response to it.
    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse
}

/// No calls to other servers: each fails. For embedders whose plugins make none.
public final class NoOutboundHTTP: OutboundHTTP {
    public init() {}

    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        throw OutboundFailure(.noClient, "this host has no HTTP client")
    }
}
