import AssayCore
import AssayKit
import AssayTestSupport

#if os(Linux)
import AssayCrypto
import AssayTesting
import Foundation
import Glibc
import SwiftOverlayShims
import Testing

/// What a real server does when the machine has nothing left of something, and when it has again.
@Suite("Shortages", .serialized, .timeLimit(.minutes(10)))
struct ShortageTests {
    private let authority: SimulatedAppleCA
    private let device: SimulatedDevice

    init() throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
        device = SimulatedDevice(authority: authority)
    }

    @Test(
        "on a full disk what needs the state is answered with 503, the rest continues, and nothing is lost or taken twice",
        .enabled(if: Machine.canMount, "no file system can be mounted here: only root may, and not in every container"))
    func fullDisk() async throws {
        try await Machine.withSmallDisk(bytes: 4 << 20) { folder in
            let ballast = folder.appendingPathComponent("ballast")
            try await shortage(in: folder) { _ in
                #expect(FileManager.default.createFile(atPath: ballast.path, contents: nil))
                let file = try FileHandle(forWritingTo: ballast)
                // Page by page, to the last one.
                while (try? file.write(contentsOf: Data(repeating: 1, count: 4096))) != nil {}
                try file.close()
            } over: { _ in
                try FileManager.default.removeItem(at: ballast)
            }
        }
    }

    @Test("when files may not grow, it is the same as on a full disk")
    func fileSizeLimit() async throws {
        try await withTemporaryFolder { folder in
            try await shortage(in: folder) { server in
                try Machine.limit(RLIMIT_FSIZE, to: 4096, of: server.processID)
            } over: { server in
                try Machine.limit(RLIMIT_FSIZE, to: UInt.max, of: server.processID)
            }
        }
    }

    private func shortage(
        in folder: URL, begins: (AssayServer) throws -> Void, over: (AssayServer) throws -> Void
    ) async throws {
        try AssayServer.writePolicy(in: folder, trusting: authority)
        let token = ["ASSAY_DEBUG_TOKEN": AssayServer.debugToken]
        let server = try await AssayServer(in: folder, environment: token)
        let keyID = try device.generateKey()
        let otherID = try device.generateKey()
        let used = try await server.challenge()
        let attested = try await server.attest(device, keyID, challenge: used)
        let artifact = try #require(attested.body["artifact"]?.string.flatMap { Base64.decode($0) })
        #expect(try await server.assert(device, keyID, artifact, counter: 5).status == 200)
        let kept = try await server.challenge()

        try begins(server)
        // The room that the write-ahead log already has is used before it must grow.
        var next: UInt32 = 6
        while try await server.assert(device, keyID, artifact, counter: next).status == 200 {
            next += 1
            try #require(next < 1000)
        }
        for _ in 0..<3 {
            #expect(try await server.assert(device, keyID, artifact, counter: next).status == 503)
            #expect(try await server.attest(device, otherID, challenge: kept).status == 503)
        }
        // What needs no state.
        #expect(try await server.get("/v1/jwks").status == 200)
        #expect(try await server.get("/livez").status == 200)
        #expect(try await server.challenge().count > 16)
        let exchange: JSON = ["debug_token": .string(AssayServer.debugToken)]
        #expect(try await server.post("exchangeDebugToken", exchange).status == 200)
        // One that does, and what its client is told.
        let limited: JSON = ["debug_token": .string(AssayServer.debugToken), "limited_use": true]
        #expect(try await server.post("exchangeDebugToken", limited).status == 200)
        let attestation = try device.attestKey(
            otherID, clientDataHash: SHA256.hash(kept), app: AssayServer.simulatedApp, at: HostClock.system.now)
        let refusal = try await server.ask(
            AssayServer.post(
                "exchangeAppAttestAttestation",
                [
                    "key_id": .string(otherID), "attestation_statement": .string(Base64.encode(attestation)),
                    "challenge": .string(Base64.encode(kept)),
                ]))
        #expect(refusal.status == 503)
        #expect(refusal.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
        #expect(try JSON.parse(refusal.body)["error"]?["status"] == "UNAVAILABLE")

        try over(server)
        #expect(try await server.assert(device, keyID, artifact, counter: next - 1).status == 403)
        #expect(try await server.assert(device, keyID, artifact, counter: next).status == 200)
        #expect(try await server.assert(device, keyID, artifact, counter: next).status == 403)
        #expect(try await server.attest(device, otherID, challenge: kept).status == 200)
        #expect(try await server.attest(device, device.generateKey(), challenge: kept).status == 403)
        #expect(try await server.attest(device, device.generateKey(), challenge: used).status == 403)
        _ = await server.end(SIGKILL)

        let again = try await AssayServer(in: folder)
        #expect(try await again.assert(device, keyID, artifact, counter: next).status == 403)
        #expect(try await again.assert(device, keyID, artifact, counter: next + 1).status == 200)
        #expect(try await again.attest(device, device.generateKey(), challenge: kept).status == 403)
        #expect(await again.end(SIGTERM).status == 0)
    }

    @Test("without file descriptors it continues with the connections it has, and takes others when it has some again")
    func noDescriptors() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(in: folder)
            try await server.unlessLibdispatchEndsIt {
                let old = try RawSocket(port: server.port)
                try await old.sendAll(AssayServer.get("/v1/jwks"))
                #expect(try await old.reply()?.status == 200)

                let before = try Machine.limit(RLIMIT_NOFILE, to: 3, of: server.processID)
                let new = try (0..<50).map { _ in try RawSocket(port: server.port) }
                for socket in new { try await socket.sendAll(AssayServer.get("/v1/jwks")) }
                for _ in 0..<20 {
                    try await old.sendAll(AssayServer.get("/v1/jwks"))
                    #expect(try await old.reply()?.status == 200)
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(new.allSatisfy { $0.receive() == .nothing })

                try Machine.limit(RLIMIT_NOFILE, to: before, of: server.processID)
                for socket in new { #expect(try await socket.reply()?.status == 200) }
                #expect(try await server.ask(AssayServer.get("/readyz")).status == 200)
                #expect(await server.end(SIGTERM).status == 0)
            }
        }
    }
}
#endif
