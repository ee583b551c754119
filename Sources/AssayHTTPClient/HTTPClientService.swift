public import AssayCore
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
public import ServiceLifecycle
internal import Synchronization

/// Calls other servers over HTTP/1.1, and TLS 1.2 or later where the URL says `https`.
///
/// Nothing is opened before the first call. Run it as a service that is listed before the services that use it, so that
/// it ends after them, or call ``shutDown()`` at the end.
public final class HTTPClientService: OutboundHTTP, Service {
    private enum State {
        case idle
        case open(HTTPClient)
        case closed
    }

    private let configuration: HTTPClient.Configuration
    private let authorities: HTTPClientOptions.Authorities
    private let isDirect: Bool
    private let state = Mutex(State.idle)
    private let slots: ConnectionSlots

    /// - Throws: `OutboundFailure` when an additional root is not a certificate.
    public init(_ options: HTTPClientOptions = HTTPClientOptions()) throws(OutboundFailure) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .fullVerification
        tls.minimumTLSVersion = .tlsv12
        if !options.additionalTrustRoots.isEmpty {
            do {
                let roots = try options.additionalTrustRoots.map { try NIOSSLCertificate(bytes: $0, format: .der) }
                tls.additionalTrustRoots = [.certificates(roots)]
            } catch {
                throw OutboundFailure(.tlsRefused, "an additional trust root is not a certificate")
            }
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        configuration.connectionPool.idleTimeout = TimeAmount(options.idleTimeout)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(options.connectionsPerServer, 1)
        // An unreachable server is reported at once; the caller decides whether to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = options.proxy.map { .server(host: $0.host, port: $0.port) }
        let (headLimit, totalLimit) = (max(options.headBytes, 1024), max(options.responseBytes, 1024))
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.submit {
                try ResponseBound.add(to: channel, headLimit: headLimit, totalLimit: totalLimit)
            }
        }
        self.configuration = configuration
        authorities = options.authorities
        isDirect = options.proxy == nil
        slots = ConnectionSlots(count: options.connectionsPerServer)
    }

    deinit {
        // In case it was not shut down: a client that is dropped while it is open ends the process.
        if case .open(let client) = state.withLock({ $0 }) { client.shutdown { _ in } }
    }

    /// Waits for graceful shutdown, and shuts down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutDown()
    }

    /// Closes all connections.
    ///
    /// Calls under way fail, and so do later ones.
    public func shutDown() async {
        let previous = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .open(let client) = previous { try? await client.shutdown() }
    }

    /// Sends a request and reads the whole response, within the request's time limit and the options' byte limits.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        do {
            // The deadline that the client below keeps ends with the head of the response.
            return try await withDeadline(
                request.timeLimit, clock: .system, exceeded: HTTPClientError.deadlineExceeded
            ) {
                try await self.slots.with(request.url) { try await self.call(request) }
            }
        } catch {
            throw await failure(error, calling: request.url)
        }
    }

    private func failure(_ error: any Error, calling url: EndpointURL) async -> OutboundFailure {
        // Only a person at a command waits for it: calls of a server have a time limit, and are many.
        guard TLSFault(error) == .certificate, isDirect, authorities.option != nil else {
            return OutboundFailure(error, calling: url, trusting: authorities)
        }
        let fault = await CertificateProbe.fault(of: url, now: HostClock.system.now)
        return OutboundFailure(fault, calling: url, trusting: authorities)
    }

    private func call(_ request: OutboundRequest) async throws -> OutboundResponse {
        let client = try open()
        guard request.headers.allSatisfy({ !$0.name.isEmpty }) else {
            throw OutboundFailure(.invalidRequest, "a header without a name")
        }
        var message = HTTPClientRequest(url: request.url.text)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await client.execute(message, deadline: .now() + TimeAmount(request.timeLimit))
        // The length in an answer to HEAD is that of a body which does not come (RFC 9110, section 9.3.2).
        if request.method != .head, let declared = response.headers.first(name: "content-length").flatMap({ Int($0) }),
            declared > request.responseLimit
        {
            throw ResponseTooLarge(limit: request.responseLimit)
        }
        var body: [UInt8] = []
        for try await part in response.body {
            guard body.count + part.readableBytes <= request.responseLimit else {
                throw ResponseTooLarge(limit: request.responseLimit)
            }
            body.append(contentsOf: part.readableBytesView)
        }
        return OutboundResponse(
            status: Int(response.status.code), headers: response.headers.map { OutboundHeader($0.name, $0.value) },
            body: body)
    }

    private func open() throws -> HTTPClient {
        try state.withLock { state in
            switch state {
            case .open(let client): return client
            case .closed: throw HTTPClientError.alreadyShutdown
            case .idle:
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                state = .open(client)
                return client
            }
        }
    }
}

/// The body of a response is longer than the request allows.
struct ResponseTooLarge: Error {
    let limit: Int
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let milliseconds = min(max(duration.wholeMilliseconds, 0), 86_400_000)
        self = .milliseconds(milliseconds)
    }
}
