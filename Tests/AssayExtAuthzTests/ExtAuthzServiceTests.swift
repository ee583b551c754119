import AssayCore
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import NIOSSL
import ServiceLifecycle
import Testing

@testable import AssayExtAuthz

private let noMessages: [[UInt8]] = [[0xFF], [0x0A, 0x7F, 1], [0x0A, 0x02, 0x22, 0x7F], Array("GET / HTTP/1.1".utf8)]

@Suite("Serving ext_authz", .timeLimit(.minutes(20)))
struct ExtAuthzServiceTests {
    private static let good: JSON = ["appId": "1:2:ios:3", "jti": "j", "provider": "app_attest", "consumed": false]

    @Test("a request may pass or not, as the kernel decides")
    func decides() async throws {
        let handler = ScriptedHandler { call in
            call.token == .one("good") ? .success(Self.good) : .failure(CallFailure(.unauthenticated, "No."))
        }
        try await ExtAuthzServer.with(handler) { server in
            try await server.withClient { client in
                let good = try await client.check(.about(headers: [("x-firebase-appcheck", "good")], backend: "orders"))
                #expect(good.isLeave)
                #expect(good.findings["x-appcheck-app-id"] == "1:2:ios:3")
                let bad = try await client.check(.about(headers: [("x-firebase-appcheck", "bad")]))
                #expect(bad.isDenial)
                #expect(bad.deniedResponse.status.code == 401)
            }
        }
        #expect(handler.calls.map(\.method) == ["verifyRequest", "verifyRequest"])
        #expect(handler.calls.first?.body["backend"] == "orders")
    }

    @Test("what is no message is denied, not failed", arguments: noMessages)
    func rubbish(bytes: [UInt8]) async throws {
        let handler = ScriptedHandler()
        try await ExtAuthzServer.with(handler) { server in
            try await server.withClient { client in
                let response = try await client.check(bytes: bytes)
                #expect(response.isDenial)
                #expect(response.status.code == 7)
            }
        }
        #expect(handler.calls.isEmpty)
    }

    @Test("an empty message is denied")
    func empty() async throws {
        try await ExtAuthzServer.with { server in
            try await server.withClient { client in
                let response = try await client.check(bytes: [])
                #expect(response.isDenial)
            }
        }
    }

    @Test("a message that is too large fails, and asks nothing")
    func large() async throws {
        let handler = ScriptedHandler()
        try await ExtAuthzServer.with(handler, limits: { $0.messageBytes = 4096 }) { server in
            try await server.withClient { client in
                let error = await #expect(throws: GRPCFailure.self) {
                    try await client.check(.about(headers: [("cookie", String(repeating: "a", count: 5000))]))
                }
                #expect(error?.code == GRPCFailure.resourceExhausted)
                let response = try await client.check(.about())
                #expect(response.isLeave)
            }
        }
        #expect(handler.calls.count == 1)
    }

    @Test("methods that there are not are not implemented")
    func unknown() async throws {
        try await ExtAuthzServer.with { server in
            try await server.withClient { client in
                let error = await #expect(throws: GRPCFailure.self) {
                    try await client.unary("/envoy.service.auth.v2.Authorization/Check", [])
                }
                #expect(error?.code == GRPCFailure.unimplemented)
            }
        }
    }

    @Test("a message that does not come is not waited for any longer than it may take")
    func stalled() async throws {
        let handler = ScriptedHandler()
        try await ExtAuthzServer.with(handler, limits: { $0.receiveTime = .milliseconds(1) }) { server in
            try await server.withClient { client in
                let error = await #expect(throws: GRPCFailure.self) {
                    // Three bytes of a head of five.
                    try await client.call("/envoy.service.auth.v3.Authorization/Check", [0, 0, 0], ends: false) {
                        _ = try await $0.next()
                    }
                }
                #expect(error?.code == GRPCFailure.deadlineExceeded)
            }
        }
        #expect(handler.calls.isEmpty)
    }

    @Test("it is served on a Unix socket, whose file is gone afterwards")
    func unixSocket() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)").path
        for _ in 0..<2 {
            try await ExtAuthzServer.with(address: .unixSocket(path)) { server in
                #expect(server.address.description == "unix:\(path)")
                #expect(FileManager.default.fileExists(atPath: path))
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                let leave = try await server.withClient { try await $0.check(.about()).isLeave }
                #expect(leave)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("it is served over TLS, and over nothing else then")
    func tls() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let certificate = try ServerCertificate(certificateFile: files.certificate, keyFile: files.key)
        try await ExtAuthzServer.with(certificate: certificate) { server in
            let context = try identity.clientContext { $0.applicationProtocols = ["h2"] }
            let leave = try await server.withClient(context) { try await $0.check(.about()).isLeave }
            #expect(leave)
            await #expect(throws: (any Error).self) {
                try await server.withClient { _ = try await $0.check(.about()) }
            }
            let other = try identity.clientContext()
            await #expect(throws: (any Error).self) {
                try await server.withClient(other) { _ = try await $0.check(.about()) }
            }
        }
    }

    @Test("with authorities for clients, only one with a certificate of theirs is served, by the files in force")
    func clientCertificates() async throws {
        let (server, client, stranger) = (try TestIdentity(), try TestIdentity(), try TestIdentity())
        let files = try IdentityFiles(server)
        let authorities = files.folder.appendingPathComponent("clients.pem")
        try Data(client.certificatePEM.utf8).write(to: authorities)
        let certificate = try ServerCertificate(
            certificateFile: files.certificate, keyFile: files.key, clientAuthorityFile: authorities.path)
        #expect(certificate.files == [files.certificate, files.key, authorities.path])
        #expect(certificate.description.clientAuthorities.count == 1)
        let handler = ScriptedHandler()
        try await ExtAuthzServer.with(handler, certificate: certificate) { running in
            /// Whether a client that shows an identity, or none, is answered.
            @Sendable func isServed(_ identity: TestIdentity?) async throws -> Bool {
                let context = try server.clientContext {
                    $0.applicationProtocols = ["h2"]
                    guard let identity else { return }
                    $0.certificateChain =
                        (try? NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8)).map {
                            .certificate($0)
                        })
                        ?? []
                    $0.privateKey = (try? NIOSSLPrivateKey(bytes: Array(identity.keyPEM.utf8), format: .pem))
                        .map { .privateKey($0) }
                }
                return (try? await running.withClient(context) { try await $0.check(.about()).isLeave }) ?? false
            }
            #expect(try await isServed(client))
            #expect(try await !isServed(nil))
            #expect(try await !isServed(stranger))
            #expect(handler.calls.count == 1)

            try Data(stranger.certificatePEM.utf8).write(to: authorities)
            #expect(try certificate.reload())
            #expect(try await isServed(stranger))
            #expect(try await !isServed(client))

            try Data("no certificate".utf8).write(to: authorities)
            #expect(throws: TLSError.self) { try certificate.reload() }
            #expect(try await isServed(stranger))
            #expect(try await !isServed(nil))
        }
    }

    @Test("header fields that gRPC does not know are refused before they are compared")
    func strangeHeaders() async throws {
        let marks = String(repeating: "a\u{315}\u{300}\u{316}", count: 500)
        try await ExtAuthzServer.with { server in
            try await server.withClient { client in
                let error = await #expect(throws: GRPCFailure.self) { try await client.unary("/\(marks)/Check", []) }
                #expect(error?.code == GRPCFailure.invalidArgument)
            }
        }
    }

    @Test("of a flood of checks that cannot be read the first ones are in the log, and a sum at the end")
    func flood() async throws {
        let log = RecordingLog()
        let clock = ManualClock()
        try await ExtAuthzServer.with(clock: clock.hostClock, logger: log.logger) { server in
            try await server.withClient { client in
                for _ in 0..<260 {
                    let response = try await client.check(bytes: [])
                    #expect(response.deniedResponse.status.code == 403)
                }
            }
        }
        let lines = log.lines.filter { $0.hasPrefix("check refused") }
        #expect(lines.count == 200)
        #expect(lines.first == "check refused detail=\"it is not about an HTTP request\"")
        let sum = log.lines.first { $0.hasPrefix("refused checks summed") }
        #expect(sum?.contains("count=60") == true, "\(sum ?? "no sum")")
    }

    @Test("a decision that no header can carry denies the request, and the log says so")
    func untold() async throws {
        let log = RecordingLog()
        let handler = ScriptedHandler { _ in .success(["appId": "a\nb"]) }
        try await ExtAuthzServer.with(handler, logger: log.logger) { server in
            try await server.withClient { client in
                let response = try await client.check(CheckRequest.about())
                #expect(response.deniedResponse.status.code == 503)
            }
        }
        #expect(
            log.lines.contains {
                $0.hasPrefix(
                    "check refused decision=01DECISION detail=\"the decision has a value that no header can carry")
            })
    }

    @Test("an address that is taken is told by name")
    func taken() async throws {
        try await ExtAuthzServer.with { server in
            let error = await #expect(throws: ListenerError.self) {
                try await ExtAuthzServer.with(address: server.address) { _ in }
            }
            #expect(error?.message.contains("127.0.0.1, port ") == true)
        }
    }

    @Test("a handler without the method that decides cannot be served", arguments: [true, false])
    func missingMethod(isThere: Bool) throws {
        let methods = isThere ? [MethodDescriptor.verifyRequest(takesToken: false)] : []
        let error = #expect(throws: ExtAuthzError.self) {
            try ExtAuthzService(
                handler: ScriptedHandler(methods: methods),
                configuration: ExtAuthzConfiguration(address: .host("127.0.0.1", port: 0)),
                logger: ExtAuthzServer.logger)
        }
        #expect(error?.code == .missingMethod)
    }
}
