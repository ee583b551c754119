import AssayCore
import AssayHTTPServer
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("Certificates of listeners")
struct CertificateFilesTests {
    private func open(
        _ files: IdentityFiles, authorities: String? = nil, clock: HostClock = .system
    ) throws(TLSError) -> ServerCertificate {
        try ServerCertificate(
            certificateFile: files.certificate, keyFile: files.key, clientAuthorityFile: authorities, clock: clock)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("A certificate that is over or has not begun is refused with the time, by the clock that was given")
    func time() throws {
        let files = try IdentityFiles(TestIdentity())
        let clock = ManualClock(HostClock.system.now + .seconds(3 * 86_400))
        #expect(message { _ = try open(files, clock: clock.hostClock) }.contains("server.pem expired at 20"))
        clock.advance(by: .seconds(-6 * 86_400))
        #expect(message { _ = try open(files, clock: clock.hostClock) }.contains("server.pem is valid from 20"))
        clock.advance(by: .seconds(3 * 86_400))
        #expect(message { _ = try open(files, clock: clock.hostClock) }.isEmpty)
    }

    @Test(
        "An empty file and a damaged certificate are refused as no certificate",
        arguments: ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func noCertificate(_ text: String) throws {
        let files = try IdentityFiles(TestIdentity())
        try files.write(certificate: text)
        #expect(message { _ = try open(files) }.contains("server.pem has no certificate in PEM form"))
    }

    @Test("The authorities of clients are known by their fingerprints, and a file without any is refused")
    func authorities() throws {
        let files = try IdentityFiles(TestIdentity())
        let authorities = files.folder.appendingPathComponent("clients.pem").path
        let identities = [try TestIdentity(), try TestIdentity()]
        try Data(identities.map(\.certificatePEM).joined().utf8).write(to: URL(fileURLWithPath: authorities))
        let certificate = try open(files, authorities: authorities)
        #expect(Set(certificate.description.clientAuthorities.map { ExactText($0) }).count == 2)
        #expect(certificate.files.last?.isExactly(authorities) == true)
        // Authorities alone are a change, too.
        try Data(identities[0].certificatePEM.utf8).write(to: URL(fileURLWithPath: authorities))
        #expect(try certificate.reload())
        try Data().write(to: URL(fileURLWithPath: authorities))
        #expect(message { try certificate.reload() }.contains("clients.pem has no certificate in PEM form"))
        #expect(certificate.description.clientAuthorities.count == 1)
    }
}
