import AssayAppAttest
import AssayCore
import AssayKit
import Testing

extension Fixture {
    var environment: AppAttestEnvironment? { text("environment").flatMap(AppAttestEnvironment.init(rawValue:)) }

    func appID() throws -> AppAttestAppID { try AppAttestAppID(try #require(text("app_id"))) }

    /// What the attestation is known to agree with.
    func attestationExpectation() throws -> AttestationExpectation {
        AttestationExpectation(
            appID: try appID(), keyID: try bytes("key_id_base64"),
            clientDataHash: try bytes("client_data_hash_base64"), environments: [try #require(environment)])
    }

    /// What the assertion is known to agree with.
    func assertionExpectation() throws -> AssertionExpectation {
        AssertionExpectation(
            appID: try appID(), clientDataHash: try bytes("client_data_hash_base64"),
            previousCounter: UInt32(try #require(number("previous_counter"))))
    }
}

extension AttestationOutcome {
    var verified: VerifiedAttestation? { if case .verified(let result) = self { result } else { nil } }
    var refusal: AppAttestRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension AssertionOutcome {
    var verified: VerifiedAssertion? { if case .verified(let result) = self { result } else { nil } }
    var refusal: AppAttestRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension ReceiptOutcome {
    var refusal: AppAttestRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension Array {
    /// The array with one element replaced.
    func replacing(at index: Int, with element: Element) -> [Element] {
        var copy = self
        copy[index] = element
        return copy
    }
}
