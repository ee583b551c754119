internal import AssayCore
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Looks at the certificate of a server that was refused.
///
/// The TLS library says only that a certificate was not accepted. A second connection, which ends in its handshake, shows the
/// certificates. They serve for words of a message, and nothing is sent to the server.
enum CertificateProbe {
    private static let timeLimit = TimeAmount.seconds(3)

    /// - Returns: ``TLSFault/certificate`` where no certificate could be seen.
    static func fault(of url: EndpointURL, now: Instant) async -> TLSFault {
        let chain = (try? await certificates(of: url)) ?? []
        let periods = chain.map {
            (start: Instant(seconds: Int64($0.notValidBefore)), end: Instant(seconds: Int64($0.notValidAfter)))
        }
        if let expired = periods.first(where: { $0.end <= now }) { return .expired(expired.end) }
        if let early = periods.first(where: { now < $0.start }) { return .notYetValid(early.start) }
        return chain.isEmpty ? .certificate : .unknownAuthority
    }

    private static func certificates(of url: EndpointURL) async throws -> [NIOSSLCertificate] {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let found = loop.makePromise(of: [NIOSSLCertificate].self)
        let end = loop.scheduleTask(in: timeLimit) { found.succeed([]) }
        let name = (try? SocketAddress(ipAddress: url.host, port: 0)) == nil ? url.host : nil
        let connected = ClientBootstrap(group: loop)
            .connectTimeout(timeLimit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = try NIOSSLClientHandler(context: context, serverHostname: name) {
                        (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
                        found.succeed(chain)
                        verdict.succeed(NIOSSLVerificationResult.failed)
                    }
                    try channel.pipeline.syncOperations.addHandler(tls)
                }
            }
            .connect(host: url.host, port: url.port)
        connected.whenFailure { _ in found.succeed([]) }
        connected.whenSuccess { channel in
            channel.closeFuture.whenComplete { _ in found.succeed([]) }
            found.futureResult.whenComplete { _ in channel.close(promise: nil) }
        }
        defer { end.cancel() }
        return try await found.futureResult.get()
    }
}
