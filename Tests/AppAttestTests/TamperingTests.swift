import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

/// No byte of genuine evidence is without effect: each is signed, or is checked for the one value that it may have.
@Suite(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct TamperingTests {
    static let masks: [UInt8] = [0x01, 0x20, 0x80, 0xFF]
    /// Whether each byte is changed with every mask, which takes minutes; else with one, another from byte to byte.
    static let isExhaustive = ProcessInfo.processInfo.environment["ASSAY_EXHAUSTIVE"] != nil

    @Test("No byte of an attestation can change, when the receipt is required", arguments: ["53319234", "e4ca5081"])
    func attestation(_ mark: String) throws {
        let fixture = try Fixture.attestation(mark)
        let verifier = try AttestationVerifier(receipts: .required(ReceiptVerifier()))
        let expectation = try fixture.attestationExpectation()
        let instant = try fixture.instant("valid_at")
        let genuine = try fixture.bytes("attestation_base64")
        try #require(verifier.verify(genuine, expecting: expectation, at: instant).verified != nil)
        let survivors = changed(genuine) { bytes in
            verifier.verify(bytes, expecting: expectation, at: instant).verified != nil
        }
        #expect(survivors == [])
    }

    @Test("Without a look at the receipt, nothing but it and its name can change", arguments: ["4bb22e4a", "53319234"])
    func attestationWithoutReceipt(_ mark: String) throws {
        let fixture = try Fixture.attestation(mark)
        let verifier = try AttestationVerifier(receipts: .unchecked)
        let expectation = try fixture.attestationExpectation()
        let instant = try fixture.instant("valid_at")
        let genuine = try fixture.bytes("attestation_base64")
        let receipt = try #require(AttestationParts(genuine).receipt.bytes)
        let start = try #require(genuine.indices.first { genuine[$0...].starts(with: receipt) })
        func isAccepted(_ bytes: [UInt8]) -> Bool {
            verifier.verify(bytes, expecting: expectation, at: instant).verified != nil
        }
        let end = start + receipt.count
        // The name, before three bytes that say how long the receipt is: under another name it is missing.
        let name = start - 10..<start - 3
        #expect(genuine[name].elementsEqual("receipt".utf8))
        #expect(changed(genuine, at: 0..<name.lowerBound, isAccepted: isAccepted) == [])
        #expect(!changed(genuine, at: name, isAccepted: isAccepted).isEmpty)
        #expect(changed(genuine, at: name.upperBound..<start, isAccepted: isAccepted) == [])
        #expect(changed(genuine, at: end..<genuine.count, isAccepted: isAccepted) == [])
        #expect(changed(genuine, at: start..<start + 2, isAccepted: isAccepted) == [start, start + 1])
        #expect(changed(genuine, at: end - 2..<end, isAccepted: isAccepted) == [end - 2, end - 1])
    }

    @Test("No byte of an assertion and of what goes with it can change", arguments: ["71b0c264", "acf1d534"])
    func assertion(_ mark: String) throws {
        let fixture = try #require(Fixture.assertions.first { $0.path.contains(mark) })
        let verifier = AssertionVerifier()
        let genuine = try fixture.bytes("assertion_base64")
        let key = try fixture.publicKey()
        let expectation = try fixture.assertionExpectation()
        try #require(verifier.verify(genuine, publicKey: key, expecting: expectation).verified != nil)
        #expect(
            changed(genuine) {
                verifier.verify($0, publicKey: key, expecting: expectation).verified != nil
            } == [])
        #expect(
            changed(key) {
                verifier.verify(genuine, publicKey: $0, expecting: expectation).verified != nil
            } == [])
        #expect(
            changed(expectation.clientDataHash) {
                let other = AssertionExpectation(
                    appID: expectation.appID, clientDataHash: $0, previousCounter: expectation.previousCounter)
                return verifier.verify(genuine, publicKey: key, expecting: other).verified != nil
            } == [])
        #expect(
            changed(Array(expectation.appID.text.utf8)) {
                guard let appID = try? AppAttestAppID(String(decoding: $0, as: UTF8.self)) else { return false }
                let other = AssertionExpectation(
                    appID: appID, clientDataHash: expectation.clientDataHash, previousCounter: 0)
                return verifier.verify(genuine, publicKey: key, expecting: other).verified != nil
            } == [])
    }

    @Test("No byte of a receipt can change", arguments: ["67d91d83", "6ab43889"])
    func receipt(_ mark: String) throws {
        let fixture = try #require(Fixture.receipts.first { $0.path.contains(mark) })
        let verifier = try ReceiptVerifier()
        let genuine = try fixture.bytes("receipt_base64")
        let created = try #require(Instant(rfc3339: fixture.object("fields")["12"]?.text ?? ""))
        let expectation = ReceiptExpectation(appID: try fixture.appID())
        try #require(verifier.verify(genuine, expecting: expectation, at: created).receipt != nil)
        let survivors = changed(genuine, masks: (0..<8).map { 1 << $0 }) { bytes in
            verifier.verify(bytes, expecting: expectation, at: created).receipt != nil
        }
        #expect(survivors == [])
    }

    @Test("No evidence can be cut short or lengthened")
    func lengths() throws {
        let fixture = try Fixture.attestation("53319234")
        let verifier = try AttestationVerifier(receipts: .unchecked)
        let expectation = try fixture.attestationExpectation()
        let instant = try fixture.instant("valid_at")
        let genuine = try fixture.bytes("attestation_base64")
        for count in 0..<genuine.count {
            let outcome = verifier.verify(Array(genuine.prefix(count)), expecting: expectation, at: instant)
            #expect(outcome.verified == nil)
        }
        let receipt = try Fixture.receipt("67d91d83")
        let created = try #require(Instant(rfc3339: "2021-01-23T12:05:28.077Z"))
        let receipts = try ReceiptVerifier()
        let appID = try AppAttestAppID("6MURL8TA57.de.vincent-haupert.apple-appattest-poc")
        for bytes in (0..<receipt.count).map({ Array(receipt.prefix($0)) }) + [receipt + [0], receipt + [0, 0]] {
            let outcome = receipts.verify(bytes, expecting: ReceiptExpectation(appID: appID), at: created)
            #expect(outcome.receipt == nil)
        }
    }

    /// Changes each byte in a range with one of the masks or with each, and returns where a change went unnoticed.
    private func changed(
        _ genuine: [UInt8], at range: Range<Int>? = nil, masks: [UInt8] = masks, isAccepted: ([UInt8]) -> Bool
    ) -> [Int] {
        var survivors: [Int] = []
        for index in range ?? genuine.indices {
            var bytes = genuine
            for mask in Self.isExhaustive ? masks : [masks[index % masks.count]] {
                bytes[index] = genuine[index] ^ mask
                if isAccepted(bytes), survivors.last != index { survivors.append(index) }
            }
        }
        return survivors
    }
}
