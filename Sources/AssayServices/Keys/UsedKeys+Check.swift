public import AssayCore
public import AssayEngine
public import AssayKit

extension UsedKeys {
    /// Compares stored keys with those that a state was used with; makes and changes nothing.
    ///
    /// - `forgetting`: identifiers of keys that are lost permanently, as `assay keys list` and the error call them: they may be
    ///   missing. ``forget(_:in:)`` makes that last.
    /// - Returns: those of them that the state does not remember.
    /// - Throws: `KeyError` that names the missing keys and says how to restore them, or a key to forget that is not lost;
    ///   the error of the store.
    @discardableResult
    public static func check(
        _ keys: KeyStore, in store: any StateStore, forgetting: [String] = [], now: Instant
    ) async throws -> [String] {
        let used = UsedKeys(store)
        let elsewhere = { @Sendable () async throws -> String? in
            // They may be the keys that the state itself has.
            guard !keys.isInState, try await StateKeyVault.isUsed(in: store) else { return nil }
            return "\(StateKeyVault.descriptor.scheme):MASTERKEY"
        }
        if !forgetting.isEmpty { _ = try await keys.refresh() }
        // To forget a key that is there would change nothing: it would continue to sign or to open.
        let present = try keys.present.map { Used.all(of: $0) } ?? []
        if let id = forgetting.first(where: { id in present.contains { $0.id.isExactly(id) } }) {
            throw KeyError(
                "the key \(id) is not lost: \(keys.placeName ?? "the key store") has it, so that it cannot be forgotten. If it "
                    + "has leaked, revoke it")
        }
        let known: [ExactText: Used]
        do {
            known = try await used.check(
                try keys.present, in: keys.placeName, forgetting: forgetting, now: now, elsewhere: elsewhere)
        } catch let error as KeyError {
            // Another server may have made and used a key since the vault was read.
            guard try await keys.refresh() else { throw error }
            known = try await used.check(
                try keys.present, in: keys.placeName, forgetting: forgetting, now: now, elsewhere: elsewhere)
        }
        return forgetting.filter { id in !known.values.contains { $0.id.isExactly(id) } }
    }
}
