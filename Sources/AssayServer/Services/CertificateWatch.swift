internal import AssayCore
internal import AssayHTTPServer
internal import AssayKit
internal import Logging
internal import ServiceLifecycle

/// Says when the certificate of a listener for TLS expires soon, or has expired while it is in use.
struct CertificateWatch: Service {
    private static let expiry = Metric.gauge(
        "tls_certificate_expiry_timestamp_seconds", "When the certificate that listeners use expires, in Unix time.")
    static let metrics = [expiry]
    /// How long before its end a certificate is warned of.
    static let notice = Duration.seconds(14 * 86_400)

    /// What listeners use: one that was renewed may be in use at one of them only.
    let certificates: [ServerCertificate]
    let logger: Logger
    var clock = HostClock.system
    var interval = Duration.seconds(60)

    /// The first end of all certificates in use; nil without TLS.
    private var expires: Instant? { certificates.map(\.description.expires).min() }

    func add(to registry: MetricRegistry) {
        guard !certificates.isEmpty else { return }
        let meter = registry.meter
        registry.beforeEachPage {
            if let expires { meter.set(Double(expires.milliseconds) / 1000, of: Self.expiry) }
        }
    }

    /// Degraded from the end of a certificate in use: clients refuse it.
    var readiness: Readiness {
        guard let expires, expires <= clock.now else { return .ready }
        return .degraded("the TLS certificate expired at \(expires): clients refuse it; replace its file")
    }

    /// That a certificate expires within two weeks; nil otherwise.
    var caution: String? {
        guard let expires, expires > clock.now, expires <= clock.now + Self.notice else { return nil }
        return "the TLS certificate expires at \(expires): it was not renewed; replace its file"
    }

    /// Logs the warning when it is due, and once a day while it holds; ``ReadinessService`` logs the end.
    func run() async {
        await cancelWhenGracefulShutdown {
            var next: Duration?
            repeat {
                if let caution {
                    if next.map({ $0 <= clock.uptime }) ?? true {
                        logger.warning("\(caution)")
                        next = clock.uptime + .seconds(86_400)
                    }
                } else {
                    next = nil
                }
            } while (try? await clock.sleep(for: interval)) != nil
        }
    }
}
