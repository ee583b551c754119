import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Foundation
import NIOSSL
import Testing

@Suite("TLS", .timeLimit(.minutes(20)))
struct TLSTests {
    private static let health = TestServer.get("/healthz")

    @Test(
        "a client that trusts the certificate is served, over TLS 1.2 and 1.3",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func serves(version: TLSVersion) async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let client = try identity.clientContext {
            $0.minimumTLSVersion = version
            $0.maximumTLSVersion = version
            $0.applicationProtocols = ["http/1.1"]
        }
        let status = try await TestServer.with(certificate: files.open()) { port, _ in
            try await RawConnection.with(port: port, tls: client) { connection in
                try await connection.send(Self.health)
                let first = try await connection.reply().status
                try await connection.send(Self.health)
                return [first, try await connection.reply().status]
            }
        }
        #expect(status == [200, 200])
    }

    @Test("TLS 1.1 is not spoken")
    func old() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let client = try identity.clientContext {
            $0.minimumTLSVersion = .tlsv1
            $0.maximumTLSVersion = .tlsv11
        }
        try await TestServer.with(certificate: files.open()) { port, _ in
            await #expect(throws: (any Error).self) {
                try await RawConnection.with(port: port, tls: client) { connection in
                    try await connection.send(Self.health)
                    _ = try await connection.reply()
                }
            }
        }
    }

    @Test("whoever speaks no TLS gets no HTTP, and the server continues")
    func plain() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let client = try identity.clientContext()
        let status = try await TestServer.with(certificate: files.open()) { port, _ in
            for bytes in [Array(Self.health.utf8), [0x16, 3, 1, 0xFF, 0xFF], [UInt8](repeating: 0, count: 5000)] {
                let rest = try? await RawConnection.with(port: port) { connection in
                    try await connection.send(bytes)
                    try await connection.finishSending()
                    return try await connection.rest()
                }
                #expect(!String(decoding: rest ?? [], as: UTF8.self).contains("HTTP/1.1"))
            }
            return try await RawConnection.with(port: port, tls: client) { connection in
                try await connection.send(Self.health)
                return try await connection.reply().status
            }
        }
        #expect(status == 200)
    }

    @Test("a client that says nothing has as long for the handshake as for a request's head")
    func silent() async throws {
        let files = try IdentityFiles(TestIdentity())
        var limits = HTTPLimits()
        limits.headTime = .milliseconds(200)
        try await TestServer.with(limits: limits, certificate: files.open()) { port, _ in
            let rest = try await RawConnection.with(port: port) { try await $0.rest() }
            #expect(rest.isEmpty)
        }
    }

    @Test("a renewed certificate is shown to new connections, and those that are open continue")
    func renewal() async throws {
        let old = try TestIdentity()
        let new = try TestIdentity()
        let files = try IdentityFiles(old)
        let certificate = try files.open()
        let (oldClient, newClient) = (try old.clientContext(), try new.clientContext())
        let before = certificate.description
        try files.write(new)
        try await TestServer.with(certificate: certificate) { port, _ in
            try await RawConnection.with(port: port, tls: oldClient) { connection in
                try await connection.send(Self.health)
                #expect(try await connection.reply().status == 200)
                #expect(try certificate.reload())
                #expect(certificate.description != before)
                try await connection.send(Self.health)
                #expect(try await connection.reply().status == 200)
            }
            try await RawConnection.with(port: port, tls: newClient) { connection in
                try await connection.send(Self.health)
                #expect(try await connection.reply().status == 200)
            }
            await #expect(throws: (any Error).self) {
                try await RawConnection.with(port: port, tls: oldClient) { connection in
                    try await connection.send(Self.health)
                    _ = try await connection.reply()
                }
            }
        }
        #expect(try !certificate.reload())
    }

    /// What can be wrong with the files, and what the error says of it.
    enum Fault: CaseIterable {
        case otherKey, expired, notYetValid, noCertificate, noKey, readableKey, missing

        var words: String {
            switch self {
            case .otherKey: "does not match the certificate"
            case .expired: "expired at"
            case .notYetValid: "is valid from"
            case .noCertificate: "has no certificate in PEM form"
            case .noKey: "has no private key in PEM form"
            case .readableKey: "run `chmod 6"
            case .missing: "cannot open"
            }
        }

        func apply(to files: IdentityFiles) throws {
            switch self {
            case .otherKey: try files.write(key: TestIdentity().keyPEM)
            case .expired: try files.write(TestIdentity(from: .seconds(-200), until: .seconds(-100)))
            case .notYetValid: try files.write(TestIdentity(from: .seconds(5000)))
            case .noCertificate: try files.write(certificate: "hello\n")
            case .noKey: try files.write(key: "secret words\n")
            case .readableKey:
                let identity = try TestIdentity()
                try files.write(identity)
                try files.write(key: identity.keyPEM, mode: 0o644)
            case .missing: try FileManager.default.removeItem(atPath: files.certificate)
            }
        }
    }

    @Test("wrong files are said to be so, and leave the present certificate in force", arguments: Fault.allCases)
    func faults(fault: Fault) throws {
        let files = try IdentityFiles(TestIdentity())
        let certificate = try files.open()
        let before = certificate.description
        try fault.apply(to: files)
        do throws(TLSError) {
            try certificate.reload()
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(fault.words))
            #expect(!error.message.contains("secret words"))
        }
        #expect(certificate.description == before)
        #expect(throws: TLSError.self) { try files.open() }
    }
}
