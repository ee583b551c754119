internal import AssayAppAttest
internal import AssayCBOR
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting

extension FuzzTarget {
    /// Accepted is what makes a good attestation once the authority has signed it.
    func judgeLeaf(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        // Most of the reading is done before a signature is looked at, which takes a hundred times longer.
        let unsigned = try judgeLeaf(input, signature: [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], scene)
        guard unsigned == .refused("leaf_signature_invalid") else {
            try BrokenPromise.unless(unsigned != .accepted, "a leaf is signed by the authority")
            return unsigned
        }
        return try judgeLeaf(
            input, signature: try scene.authority.intermediate.key.sign(input, digest: .sha256), scene)
    }

    private func judgeLeaf(_ input: [UInt8], signature: [UInt8], _ scene: FuzzScene) throws -> FuzzVerdict {
        guard var object = try CBORDecoder().decode(scene.attestation).map,
            var statement = object["attStmt"]?.map, let intermediate = statement["x5c"]?.array?.last
        else { throw BrokenPromise("a genuine attestation can be read") }
        let ecdsaWithSHA256: [UInt8] = [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        let leaf = Self.value(0x30, input + ecdsaWithSHA256 + Self.value(0x03, [0] + signature))
        statement["x5c"] = .array([.bytes(leaf), intermediate])
        object["attStmt"] = .map(statement)
        let outcome = scene.attestationsWithoutReceipts.verify(
            CBOREncoder().encode(.map(object)), expecting: scene.attestationExpectation, at: FuzzScene.now)
        switch outcome {
        case .refused(let refusal): return .refused(refusal.reason.code)
        case .verified(let attestation):
            try BrokenPromise.unless(attestation.publicKey == scene.key.point, "the key is the device's")
            try BrokenPromise.unless(
                attestation.notBefore <= FuzzScene.now && FuzzScene.now <= attestation.notAfter, "the leaf is valid now"
            )
            return .accepted
        }
    }

    /// A value in DER (X.690, section 8.1.3).
    private static func value(_ identifier: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        switch count {
        case ..<0x80: return [identifier, UInt8(count)] + content
        case ..<0x100: return [identifier, 0x81, UInt8(count)] + content
        default:
            let bytes = [UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8)]
            let length = (bytes + [UInt8(truncatingIfNeeded: count)]).drop { $0 == 0 }
            return [identifier, 0x80 | UInt8(length.count)] + length + content
        }
    }
}
