import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("assay serve loads renewed certificates", .timeLimit(.minutes(20)))
struct CertificateReloadTests {
    /// Waits for a certificate to be shown, and for a word of `/readyz`.
    private func eventually(_ port: Int, shows identity: TestIdentity, saying word: String) async throws {
        let start = ContinuousClock.now
        while true {
            let reply = try? await TLSClient.with(port: port, trusting: identity) { try await $0.get("/readyz") }
            if reply?.contains(word) == true { return }
            try #require(ContinuousClock.now - start < .seconds(120), "\(word): \(reply ?? "no reply")")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("on SIGHUP new connections get the new certificate, open ones continue, and a bad one changes nothing")
    func hangup() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let (old, new) = (try TestIdentity(), try TestIdentity())
            let files = try IdentityFiles(old)
            let server = try await AssayServer(
                in: folder,
                arguments: [
                    "--watch", "never", "--idle-time", "3600", "--tls-certificate", files.certificate, "--tls-key",
                    files.key,
                ])
            #expect(server.base.hasPrefix("https://"))
            let port = try server.port
            try await TLSClient.with(port: port, trusting: old) { open in
                #expect(try await open.get("/readyz").contains(#"{"status":"ok","revision":"#))

                try files.write(new)
                kill(server.processID, SIGHUP)
                try await eventually(port, shows: new, saying: #"{"status":"ok","revision":"#)
                #expect(try await open.get("/readyz").contains(#"{"status":"ok","revision":"#))

                try files.write(certificate: "hello\n")
                kill(server.processID, SIGHUP)
                try await eventually(port, shows: new, saying: "\"reason\":\"TLS certificate")
                #expect(server.process.errorsSoFar.contains("has no certificate in PEM form"))
                #expect(try await open.get("/healthz").hasPrefix("HTTP/1.1 200"))
            }
            await #expect(throws: (any Error).self) {
                try await TLSClient.with(port: port, trusting: old) { try await $0.get("/healthz") }
            }
            let end = await server.end(SIGTERM)
            #expect(end.status == 0)
        }
    }
}
