/// Calls other servers over HTTP: Apple's, an issuer of keys, a backend of the operator's.
///
/// An implementer keeps these promises:
///
/// - for an `https` URL the server's certificate is verified for the name in the URL;
/// - redirects are not followed: a 3xx is a response like any other;
/// - a call ends within the request's time limit in any case, and at once when its task is cancelled;
/// - a body larger than the request allows is a failure; it is never truncated;
/// - a request that the server may have received is not sent again: only the caller decides about a retry;
/// - any number of calls may run at once; connections to one server are limited, and further calls wait for one.
///
/// A response may have any status; a failure means that no response was received. Clients are classes, since they have
/// an identity: the state of a server, such as that it is down, is kept for each client.
public protocol OutboundHTTP: AnyObject, Sendable {
    /// Sends a request and returns the response to it.
    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse
}

/// No calls to other servers: each fails.
///
/// For embedders whose plugins make none.
public final class NoOutboundHTTP: OutboundHTTP {
    /// Makes a client that refuses all calls.
    public init() {}

    /// Always fails with the code `no_client`.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        throw OutboundFailure(.noClient, "this host has no HTTP client")
    }
}
