internal import AssayAppAttest
internal import AssayCBOR
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting

extension FuzzTarget {
    func judgeAttestation(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        switch scene.attestations.verify(input, expecting: scene.attestationExpectation, at: FuzzScene.now) {
        case .refused(let refusal): return .refused(refusal.reason.code)
        case .verified(let attestation):
            // Whatever is accepted was signed by the simulated authority, so that it says what a device said.
            try BrokenPromise.unless(attestation.publicKey == scene.key.point, "the key is the device's")
            try BrokenPromise.unless(attestation.counter == 0, "the counter of an attestation is 0")
            try BrokenPromise.unless(attestation.receipt?.receipt != nil, "the receipt is good")
            try BrokenPromise.unless(attestation.bundleVersion ?? "1" == "1", "the bundle version is the app's")
            return .accepted
        }
    }

    func judgeAssertion(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        let outcome = AssertionVerifier().verify(
            input, publicKey: scene.publicKey, expecting: scene.assertionExpectation)
        switch outcome {
        case .refused(let refusal): return .refused(refusal.reason.code)
        case .verified(let assertion):
            try BrokenPromise.unless(assertion.counter > 0, "the counter is above the last one")
            try BrokenPromise.unless(assertion.bundleVersion ?? "1" == "1", "the bundle version is the app's")
            return .accepted
        }
    }

    /// Accepted is what is good in an assertion or in an attestation.
    func judgeAuthenticatorData(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        let isAttestation = try judgeAttestation(with: input, scene)
        let signature = try scene.key.sign(SHA256.hash(input + FuzzScene.clientDataHash), digest: .sha256)
        let assertion = CBOREncoder().encode(
            .map([
                CBORPair(.text("signature"), .bytes(signature)), CBORPair(.text("authenticatorData"), .bytes(input)),
            ]))
        let outcome = AssertionVerifier().verify(
            assertion, publicKey: scene.publicKey, expecting: scene.assertionExpectation)
        switch outcome {
        case .refused(let refusal):
            return isAttestation ? .accepted : .refused(refusal.reason.code)
        case .verified(let assertion):
            try BrokenPromise.unless(input.count >= 37, "authenticator data has a head")
            let counter = input[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            try BrokenPromise.unless(
                assertion.counter == counter && counter > 0, "the counter is the one that was signed")
            try BrokenPromise.unless(assertion.flags == input[32], "the flags are those that were signed")
            try BrokenPromise.unless(!isAttestation, "an assertion is no attestation")
            return .accepted
        }
    }

    /// Whether an attestation with this authenticator data is good, once its leaf has the nonce that belongs to it.
    private func judgeAttestation(with input: [UInt8], _ scene: FuzzScene) throws -> Bool {
        guard let object = try CBORDecoder().decode(scene.attestation).map else { return false }
        var changed = object
        changed["authData"] = .bytes(input)
        let unsigned = scene.attestationsWithoutReceipts.verify(
            CBOREncoder().encode(.map(changed)), expecting: scene.attestationExpectation, at: FuzzScene.now)
        guard case .refused(let refusal) = unsigned else { return true }
        guard refusal.reason.code == "nonce_mismatch" else { return false }
        let device = scene.device(.iOS27)
        var options = AttestationOptions()
        options.authenticatorData = { data in
            data.relyingPartyIDHash = Array(input.prefix(32))
            data.flags = input[32]
            data.counter = 0
            data.credential = nil
            data.extensions = Array(input.dropFirst(37))
        }
        let signed = try device.attestKey(
            try device.generateKey(), clientDataHash: FuzzScene.clientDataHash, app: FuzzScene.app, at: FuzzScene.now,
            options: options)
        let outcome = scene.attestationsWithoutReceipts.verify(
            signed, expecting: scene.attestationExpectation, at: FuzzScene.now)
        guard case .verified = outcome else {
            throw BrokenPromise("with the right nonce an attestation is good: \(outcome)")
        }
        return true
    }
}
