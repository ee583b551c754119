internal import AssayJWT
internal import AssayKit

/// Finds out who the user of a request is.
enum ActorInspection {
    /// - Throws: ``CallFailure`` for a JWT that is not good; ``KeysUnavailable`` when that cannot be decided now.
    static func inspect(_ token: String, for consumer: ConsumerEntry, now: Instant) async throws -> VerifiedActor {
        guard let name = JWTClaims.issuer(ofUnverified: token) else { throw refused(KernelReasons.actorMalformed) }
        guard let issuer = consumer.actors[name] else { throw refused(KernelReasons.actorIssuerUnknown) }
        do throws(any Error) {
            let claims = try await issuer.verify(token, types: ["jwt", "at+jwt", "application/at+jwt"], now: now)
            guard let subject = claims.subject, !subject.isEmpty else {
                throw refused(KernelReasons.actorInvalid, "it names no subject")
            }
            return VerifiedActor(issuer: name, subject: subject, claims: claims.json)
        } catch let fault as JWTFault {
            throw refused(
                fault == .expired ? KernelReasons.actorExpired : KernelReasons.actorInvalid,
                issuer.explanation(of: fault, in: token, now: now))
        }
    }

    static func refused(_ reason: Reason, _ detail: String? = nil) -> CallFailure {
        CallFailure(
            .unauthenticated, "The user's token is invalid.", reason: reason, detail: detail,
            oauthError: "invalid_request")
    }
}
