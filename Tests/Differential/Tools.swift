import AssayEngine
import AssayPolicy
@testable import AssayPolicyTools

/// The policies before and after a change, as tools see them.
struct Tools {
    let old: PolicySet
    let new: PolicySet
    /// What explains calls under the policies before.
    let view: PolicyView
    /// What differs after the change.
    let changed: DecisionReplay
    /// What differs without a change.
    let same: DecisionReplay
    /// Judges captured evidence by the policies before, and after.
    let evidence: (old: EvidenceReplay, new: EvidenceReplay?)

    /// - Throws: the problems of the policies.
    ///
    /// - Parameter after: the same as `before` where nothing changes.
    init(_ before: String, _ after: String) throws {
        let registry = World.registry
        old = World.policies(before)
        let hasChanged = before != after
        new = hasChanged ? World.policies(after) : old
        view = try PolicyView(old, registry: registry)
        same = try DecisionReplay(from: (old, registry), to: (old, registry))
        changed = hasChanged ? try DecisionReplay(from: (old, registry), to: (new, registry)) : same
        let secrets = World.secrets
        evidence = (
            try EvidenceReplay(old, registry: registry, secrets: secrets),
            hasChanged ? try EvidenceReplay(new, registry: registry, secrets: secrets) : nil
        )
    }
}
