public import AssayClient
internal import AssayCore
internal import AssayHTTPClient

/// Sends requests by async-http-client, over HTTP/1.1 and TLS 1.2 or later: where there is no `URLSession`.
///
/// It has connections of its own, because a client that the program has already may follow redirects. It follows none,
/// keeps no cookies, and asks no variable of the environment for a proxy. Connections are opened with the first request
/// and closed when it is dropped.
public final class HTTPClientTransport: ClientTransport {
    /// Why there is no response.
    public struct Failure: Error, CustomStringConvertible {
        /// The kind of failure, and where the request went.
        public let description: String
    }

    private let client: HTTPClientService

    /// Makes a transport.
    ///
    /// - Parameter additionalTrustRoots: certificates in DER that are trusted in addition to those of the system.
    /// - Throws: a ``Failure`` when one of them is no certificate.
    public convenience init(additionalTrustRoots: [[UInt8]] = []) throws {
        try self.init(additionalTrustRoots: additionalTrustRoots, authorityOption: nil)
    }

    /// - Parameter authorityOption: what gives a command the roots, for messages.
    package init(additionalTrustRoots: [[UInt8]], authorityOption: String?) throws {
        var options = HTTPClientOptions(additionalTrustRoots: additionalTrustRoots)
        options.authorityOption = authorityOption
        do throws(OutboundFailure) {
            client = try HTTPClientService(options)
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// Closes all connections; requests under way fail, and so do later ones.
    public func shutDown() async {
        await client.shutDown()
    }

    /// Sends a request by GET, HEAD, POST, PUT, PATCH or DELETE, and reads the whole response.
    ///
    /// - Throws: `ResponseTooLong`, or a ``Failure``.
    public func send(_ request: ClientRequest) async throws -> ClientResponse {
        let verb = OutboundRequest.Method.allCases.first { $0.rawValue.isExactly(request.method) }
        guard let verb, let url = EndpointURL(request.url) else {
            throw Failure(
                description: "only GET, HEAD, POST, PUT, PATCH and DELETE are sent, to https and to this machine")
        }
        let outbound = OutboundRequest(
            verb, url, headers: request.headers.map { OutboundHeader($0.name, $0.value) }, body: request.body,
            timeLimit: .nanoseconds(request.timeLimit.nanoseconds), responseLimit: request.responseLimit)
        do throws(OutboundFailure) {
            let response = try await client.send(outbound)
            return ClientResponse(
                status: response.status, headers: response.headers.map { ClientHeader($0.name, $0.value) },
                body: response.body)
        } catch {
            guard error.code != .tooLarge else { throw ResponseTooLong() }
            throw Failure(description: "\(error)")
        }
    }
}
