import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import Testing

/// Bytes from nowhere are refused, whatever they are.
struct RubbishTests {
    @Test(arguments: [1, 2, 3, 4])
    func randomBytesAreRefused(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let attestations = try AttestationVerifier(receipts: .unchecked)
        let receipts = try ReceiptVerifier()
        let appID = try AppAttestAppID("ABCDE12345.com.example.app")
        let expectation = AttestationExpectation(
            appID: appID, keyID: [UInt8](repeating: 0, count: 32), clientDataHash: [], environments: [.production])
        let key = [UInt8](repeating: 4, count: 65)
        for _ in 0..<2000 {
            let bytes = random.bytes(Int(random.next() % 300))
            let now = Instant(seconds: 1_800_000_000)
            #expect(attestations.verify(bytes, expecting: expectation, at: now).verified == nil)
            #expect(receipts.verify(bytes, expecting: ReceiptExpectation(appID: appID), at: now).receipt == nil)
            let assertion = AssertionVerifier().verify(
                bytes, publicKey: key,
                expecting: AssertionExpectation(appID: appID, clientDataHash: bytes, previousCounter: 0))
            #expect(assertion.verified == nil)
        }
    }

    /// Parts of genuine evidence, put together at random: most reach far deeper than random bytes.
    @Test(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)), arguments: [1, 2, 3, 4])
    func shuffledEvidenceIsRefused(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let fixture = try Fixture.attestation("53319234")
        let verifier = try AttestationVerifier(receipts: .required(ReceiptVerifier()))
        let expectation = try fixture.attestationExpectation()
        let instant = try fixture.instant("valid_at")
        let genuine = try fixture.bytes("attestation_base64")
        for _ in 0..<500 {
            var bytes = genuine
            for _ in 0...Int(random.next() % 3) {
                let start = Int(random.next() % UInt64(bytes.count))
                let end = min(bytes.count, start + 1 + Int(random.next() % 24))
                switch random.next() % 3 {
                case 0: bytes.removeSubrange(start..<end)
                case 1: bytes.insert(contentsOf: random.bytes(end - start), at: start)
                default: bytes.replaceSubrange(start..<end, with: random.bytes(end - start))
                }
            }
            guard bytes != genuine else { continue }
            #expect(verifier.verify(bytes, expecting: expectation, at: instant).verified == nil)
        }
    }

    /// A generator with a seed, so that a failure can be repeated (Steele and others, 2014).
    struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
        }
    }
}
