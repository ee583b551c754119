import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Synchronization
import Testing

/// Runs a script with the `openssl` command in a folder with some files; returns its status and its output.
private func openssl(_ script: String, _ files: [String: [UInt8]]) throws -> (status: Int32, output: String) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-testing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, bytes) in files { try Data(bytes).write(to: folder.appendingPathComponent(name)) }
    let shell = ChildProcess()
    let pipe = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-ec", script]
    shell.currentDirectoryURL = folder
    shell.standardOutput = pipe
    shell.standardError = pipe
    try shell.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    return (shell.terminationStatus, output)
}

@Suite("What the simulation makes is judged as genuine by others than the code that it tests")
struct SimulationTests {
    private let now = Instant(seconds: 1_795_262_400)
    private let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)

    /// The certificates of an attestation: leaf and intermediate.
    private final class Chain: Sendable {
        let certificates = Mutex<[[UInt8]]>([])
    }

    private func attest(
        _ device: SimulatedDevice, _ keyID: String
    ) throws -> (attestation: [UInt8], chain: [[UInt8]]) {
        let chain = Chain()
        var options = AttestationOptions()
        options.chain = { certificates in chain.certificates.withLock { $0 = certificates } }
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash([1]), app: app, at: now, options: options)
        return (attestation, chain.certificates.withLock { $0 })
    }

    @Test("OpenSSL verifies the certificates of an attestation under their root, and not under another")
    func certificates() throws {
        let authority = try SimulatedAppleCA(at: now)
        let device = SimulatedDevice(authority: authority)
        let (_, chain) = try attest(device, device.generateKey())
        try #require(chain.count == 2)
        func verify(_ root: SimulatedAppleCA, at instant: Instant) throws -> Int32 {
            try openssl(
                """
                openssl x509 -inform DER -in leaf.der -out leaf.pem
                openssl x509 -inform DER -in intermediate.der -out intermediate.pem
                openssl verify -purpose any -attime \(instant.seconds) -CAfile root.pem \
                  -untrusted intermediate.pem leaf.pem
                """,
                [
                    "leaf.der": chain[0], "intermediate.der": chain[1],
                    "root.pem": Array(root.rootCertificatePEM.utf8),
                ]
            ).status
        }
        #expect(try verify(authority, at: now) == 0)
        #expect(try verify(authority, at: now + .seconds(30 * 86_400)) != 0)
        let other = try SimulatedAppleCA(at: now)
        #expect(try verify(other, at: now) != 0)
    }

    @Test("OpenSSL verifies a signature of a device's key with the certified key")
    func signatures() throws {
        let device = SimulatedDevice(authority: try SimulatedAppleCA(at: now))
        let keyID = try device.generateKey()
        let (_, chain) = try attest(device, keyID)
        let message = Array("a message".utf8)
        let signature = try device.key(keyID).sign(message, digest: .sha256)
        func verify(_ message: [UInt8]) throws -> Int32 {
            try openssl(
                """
                openssl x509 -inform DER -in leaf.der -pubkey -noout > key.pem
                openssl dgst -sha256 -verify key.pem -signature signature message
                """, ["leaf.der": try #require(chain.first), "signature": signature, "message": message]
            ).status
        }
        #expect(try verify(message) == 0)
        #expect(try verify(message + [0]) != 0)
    }

    @Test("OpenSSL verifies the signed message of a receipt", arguments: ReceiptTemplate.Encoding.allCases)
    func receipts(_ encoding: ReceiptTemplate.Encoding) throws {
        let authority = try SimulatedAppleCA(at: now)
        var template = ReceiptTemplate(fields: [], signedBy: authority)
        template.content = (0..<2500).map { UInt8(truncatingIfNeeded: $0) }
        template.encoding = encoding
        let content = try #require(template.content)
        func verify(_ receipt: [UInt8], _ root: SimulatedAppleCA) throws -> Int32 {
            try openssl(
                """
                openssl cms -verify -binary -inform DER -in receipt -CAfile root.pem -purpose any \
                  -attime \(now.seconds) -out content
                cmp content expected
                """,
                ["receipt": receipt, "expected": content, "root.pem": Array(root.receiptRootCertificatePEM.utf8)]
            ).status
        }
        let receipt = try template.signed()
        #expect(try verify(receipt, authority) == 0)
        let other = try SimulatedAppleCA(at: now)
        #expect(try verify(receipt, other) != 0)
        let signer = try SignedData(receipt[...]).signer.signature
        var spoilt = receipt
        spoilt[signer.endIndex - 1] ^= 1
        if encoding == .definite { #expect(try verify(spoilt, authority) != 0) }
    }

    @Test("App Attest's verifier accepts an attestation under its root, and refuses it under another")
    func attestations() throws {
        let authority = try SimulatedAppleCA(at: now)
        let device = SimulatedDevice(authority: authority)
        let keyID = try device.generateKey()
        let (attestation, _) = try attest(device, keyID)
        func outcome(_ root: SimulatedAppleCA) throws -> AttestationOutcome {
            let verifier = AttestationVerifier(
                anchors: [try TrustAnchor(der: root.rootCertificateDER)], receipts: .unchecked)
            return verifier.verify(
                attestation,
                expecting: AttestationExpectation(
                    appID: try AppAttestAppID("ABCDE12345.com.example.app"),
                    keyID: try #require(Base64.decode(keyID)), clientDataHash: SHA256.hash([1]),
                    environments: [.production]), at: now)
        }
        guard case .verified(let verified) = try outcome(authority) else {
            Issue.record("a genuine attestation is refused")
            return
        }
        let point = try device.key(keyID).point
        #expect(verified.publicKey == point)
        guard case .refused(let refusal) = try outcome(SimulatedAppleCA(at: now)) else {
            Issue.record("an attestation under an unknown root is accepted")
            return
        }
        #expect(refusal.reason == AppAttestReasons.intermediateNotByRoot)
    }

    @Test("One seed gives the same keys and names each time, another seed others")
    func seeds() throws {
        func points(_ seed: UInt64) throws -> [[UInt8]] {
            let authority = try SimulatedAppleCA(at: now, random: .seeded(seed))
            return [authority.root, authority.intermediate, authority.receiptSigner].map(\.key.point)
        }
        let first = try points(1)
        #expect(try points(1) == first)
        #expect(try points(2) != first)
        #expect(Set(first).count == 3)
    }
}
