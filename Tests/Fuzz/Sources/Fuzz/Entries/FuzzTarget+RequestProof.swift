internal import AssayCore
internal import AssayRequestProof

extension FuzzTarget {
    /// The key of the vectors of request proofs.
    private static let proofKey: JSON = [
        "jwk": [
            "kty": "EC", "crv": "P-256", "x": "nGphl3-MYqX6eah0gQ9p8tTtSDdZGwYlFmzwK8NhcKM",
            "y": "ZFYXobnUVhRdSM5B92zdXmdRRtkNO5lpy4Z-KOccmfs",
        ],
        "rp_id_hash": "ePrE6JzvzeIOzHfsENDbEI5OwzSLDIy6_fkstFg_mII",
    ]
    /// When the first of the vectors was made.
    private static let proofTime = Instant(seconds: 1_764_000_000)

    /// Judges a proof of the first vector's request.
    func judgeRequestProof(_ input: [UInt8]) throws -> FuzzVerdict {
        let lines = String(decoding: input, as: UTF8.self).split(onASCII: "\n").map(String.init)
        func line(_ index: Int) -> String? { lines.indices.contains(index) ? lines[index] : nil }
        let headers = RequestProofHeaders(contentDigest: line(0), signatureInput: line(1), signature: line(2))
        guard let key = ConfirmationKey(claim: Self.proofKey),
            let request = ProvenRequest(method: "POST", target: "/payments?id=7"),
            let verifier = RequestProofVerifier(authorities: ["api.example.com"])
        else { throw BrokenPromise("the scene of the target can be set") }
        switch verifier.verify(headers, of: request, by: key, now: Self.proofTime) {
        case .refused(let reason, _): return .refused(reason.code)
        case .verified(let proof):
            // Nobody has the key any more: only the first vector is good.
            try BrokenPromise.unless(proof.counter == 1 && proof.created == Self.proofTime, "the proof is the vector's")
            try BrokenPromise.unless(
                headers.contentDigest.isExactly("sha-256=:\(Base64.encode(proof.contentSHA256)):"),
                "the digest is the one that was signed")
            return .accepted
        }
    }
}
