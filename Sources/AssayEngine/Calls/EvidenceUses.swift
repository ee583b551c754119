internal import AssayCore
package import AssayKit

extension Appraisal {
    /// The most uses of one appraisal.
    static let useLimit = 8

    /// Makes all changes that use up the evidence, in one step; returns the verdict that counts.
    ///
    /// - `more`: what the kernel uses up in addition, before the provider's own.
    /// - `tape`: takes down what the store answered about the provider's own.
    /// - `isLive`: whether the store is the state itself, and not what was recorded of it.
    /// - Throws: the error of the store; `OneTimeUse.Undecided`.
    package func settled(
        with more: [EvidenceUse] = [], in store: any StateStore, _ tape: CallTape? = nil, isLive: Bool = true
    ) async throws -> Verdict {
        let all = more + uses
        guard !all.isEmpty else { return .verified(self) }
        let refused = try await store.commit(all.map(\.change))
        tape?.note(uses.map(\.change), refused: refused.map { $0 - more.count })
        guard let refused else { return .verified(self) }
        guard all.indices.contains(refused) else { throw UnclearCommit() }
        if isLive { try await store.checkRefusal(of: all[refused].change) }
        return .refused(all[refused].reason, detail: all[refused].detail, facts: facts)
    }
}

/// A state store refuses a change that it was not asked to make.
private struct UnclearCommit: Error, CustomStringConvertible {
    let description = "the state store does not say which of the changes it refused"
}
