import AssayCore
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@testable import AssayServer

@Suite("The end of a TLS certificate")
struct CertificateWatchTests {
    @Test("It is a metric, a warning two weeks before, and degraded from then on, until the file is replaced")
    func stages() async throws {
        let files = try IdentityFiles(try TestIdentity(until: .seconds(90 * 86_400)))
        let certificate = try ServerCertificate(certificateFile: files.certificate, keyFile: files.key)
        let (clock, log) = (ManualClock(HostClock.system.now), RecordingLog())
        let watch = CertificateWatch(certificates: [certificate], logger: log.logger, clock: clock.hostClock)
        let registry = MetricRegistry()
        watch.add(to: registry)
        let expires = certificate.description.expires
        let name = "assay_tls_certificate_expiry_timestamp_seconds"
        let line = try #require(Self.page(registry).split(separator: "\n").first { $0.hasPrefix("\(name) ") })
        #expect(Double(line.dropFirst(name.count + 1)) == Double(expires.milliseconds) / 1000)
        #expect(watch.caution == nil)
        #expect(watch.readiness == .ready)

        let work = Task { await watch.run() }
        await clock.waitForSleepers(1)
        #expect(log.lines.isEmpty)
        clock.advance(by: .seconds(77 * 86_400))
        await clock.waitForSleepers(1)
        #expect(watch.caution?.contains("expires at \(expires)") == true)
        #expect(watch.readiness == .ready)
        #expect(log.lines.count == 1)
        // Once a day.
        clock.advance(by: .seconds(60))
        await clock.waitForSleepers(1)
        #expect(log.lines.count == 1)
        clock.advance(by: .seconds(86_400))
        await clock.waitForSleepers(1)
        #expect(log.lines.count == 2)
        work.cancel()
        await work.value

        clock.advance(by: .seconds(14 * 86_400))
        #expect(watch.caution == nil)
        #expect(
            watch.readiness
                == .degraded("the TLS certificate expired at \(expires): clients refuse it; replace its file"))
        try files.write(try TestIdentity(until: .seconds(200 * 86_400)))
        try certificate.reload()
        #expect(watch.readiness == .ready)
    }

    @Test("Without TLS there is nothing to say")
    func withoutTLS() {
        let watch = CertificateWatch(certificates: [], logger: RecordingLog().logger)
        let registry = MetricRegistry()
        watch.add(to: registry)
        #expect(watch.readiness == .ready)
        #expect(watch.caution == nil)
        #expect(!Self.page(registry).contains("tls_certificate"))
    }

    private static func page(_ registry: MetricRegistry) -> String { String(decoding: registry.page(), as: UTF8.self) }
}
