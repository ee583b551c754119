internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayVerifier

extension FuzzTarget {
    func judgeToken(_ input: [UInt8]) throws -> FuzzVerdict {
        let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
        let token = input[..<end]
        let parsed = Result { () throws(JWSError) in try CompactJWS.parse(utf8: token) }
        let keys: JWKSet
        do throws(JWKError) {
            keys = try JWKSet(json: input[end...].dropFirst())
        } catch {
            return .refused("jwks")
        }
        try judge(keys)
        let verifier = JWSVerifier(keys)
        let verified = Result { () throws(JWSError) in try verifier.verify(utf8: token) }
        var lent: [[UInt8]] = []
        let outcome = Result { () throws(JWSError) in
            try verifier.verify(token.span) { header, payload in
                if (try? verified.get().header) == header { lent.append(payload.withUnsafeBufferPointer { Array($0) }) }
            }
        }
        try BrokenPromise.unless(
            verified.map { $0.payload as [UInt8]? } == outcome.map { lent.first } && lent.count < 2,
            "a token is judged the same, whether it was copied or not")
        if case .success(let verified) = verified {
            let signed = try parsed.get()
            try BrokenPromise.unless(
                verified.header == signed.header && verified.payload == signed.payload
                    && verified.signature == signed.signature,
                "a token is the same, however its header was read")
        }
        return try verdict(of: TokenVerifier(keys: keys), on: String(decoding: token, as: UTF8.self))
    }

    func judgeClaims(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        let token = try scene.signer.sign(payload: input)
        let verdict = try verdict(of: scene.tokens, on: token)
        try BrokenPromise.unless(verdict != .refused("token_signature"), "what was signed can be verified")
        return verdict
    }

    private func verdict(of verifier: TokenVerifier, on token: String) throws(BrokenPromise) -> FuzzVerdict {
        switch verifier.verify(token, FuzzScene.tokenExpectation, now: FuzzScene.now) {
        case .refused(let reason): return .refused(reason.code)
        case .verified(let token):
            try BrokenPromise.unless(token.expires > FuzzScene.now, "a good token has not expired")
            try BrokenPromise.unless(token.issuer.utf8.elementsEqual(FuzzScene.issuer.utf8), "the issuer is exact")
            try BrokenPromise.unless(!token.subject.isEmpty && !token.id.isEmpty, "a good token is somebody's")
            return .accepted
        }
    }

    private func judge(_ keys: JWKSet) throws {
        let again = try JWKSet(json: keys.json.encoded)
        try BrokenPromise.unless(
            again.keys == keys.keys && again.skipped.isEmpty, "a key set is the same when it was written and read")
        for key in keys.keys {
            try BrokenPromise.unless(key.thumbprint.utf8.count == 43, "a thumbprint is 32 bytes in base64url")
        }
    }
}
