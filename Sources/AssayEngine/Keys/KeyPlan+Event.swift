internal import AssayCore
internal import AssayCrypto
internal import AssayKit

extension KeyPlan {
    /// The identifiers of the keys, without the keys.
    private var identifiers: (signing: [ExactText], sealing: [ExactText]) {
        (ring.signing.map { ExactText($0.name) }, ring.sealing.map { ExactText($0.name) })
    }

    /// The identifiers of those that are revoked.
    private var revoked: [ExactText] {
        let keys: [any RingKey] = ring.signing + ring.sealing
        return keys.filter { $0.times.revoked != nil }.map { ExactText($0.name) }
    }

    /// The record of these keys taking the place of others.
    func event(after before: KeyPlan, now: Instant) -> AuditEvent {
        let (present, past) = (identifiers, before.identifiers)
        let (all, earlier) = (present.signing + present.sealing, past.signing + past.sealing)
        var details = [
            JSONMember("signing", .string(issuer(at: now).signer.keyID)),
            JSONMember("sealing", .string(Hex.encode(sealingKey(at: now).id))),
        ]
        let revokedBefore = before.revoked
        for (name, keys) in [
            ("added", all.filter { !earlier.contains($0) }), ("removed", earlier.filter { !all.contains($0) }),
            ("revoked", revoked.filter { !revokedBefore.contains($0) }),
        ] where !keys.isEmpty {
            details.append(JSONMember(name, .array(keys.prefix(32).map { .string($0.string) })))
        }
        return AuditEvent(time: now, kind: .keysChanged, details: details)
    }
}
