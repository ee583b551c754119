internal import AssayCrypto
internal import AssayEngine
public import AssayKit

/// The replacement of a master key while servers run.
///
/// 1. ``addWrapping(by:)`` with the new master key; servers with the old one continue.
/// 2. Each server is given the new one, and restarted, one after another.
/// 3. ``removeWrappings(_:)`` with the new one: who has only the old one can read nothing that is written from then on.
extension StateKeyVault {
    /// The most changes at once by other servers that a change survives.
    private static let attempts = 16

    /// The master keys that wrap the keys; none while there are no keys.
    public func wrappings() async throws(KeyVaultError) -> [MasterKeyID] {
        try await reading()?.document.wrappings.map(\.id) ?? []
    }

    /// Lets another master key open the keys as well; nothing happens when it can already.
    ///
    /// - Throws: `KeyVaultError`, also when there are no keys, or when eight master keys wrap them already.
    public func addWrapping(by other: any MasterKey) async throws(KeyVaultError) {
        try await rewrap { (present) throws(KeyVaultError) in
            guard present.document.wrapping(by: other.id) == nil else { return nil }
            let key = try await self.dataKey(of: present.document)
            return (key, present.document.wrappings + [try await self.wrapping(of: key, by: other)])
        }
    }

    /// Takes master keys out of use, and encrypts the keys again under a new data key.
    ///
    /// Only the master key of this vault can wrap the new data key, so it must be the only one that stays. A copy of the
    /// state that was made before can still be opened by those that are removed: keep them as long as such a copy.
    ///
    /// - Throws: `KeyVaultError`, also for the master key of this vault, and for unknown ones.
    public func removeWrappings(_ ids: [MasterKeyID]) async throws(KeyVaultError) {
        guard !ids.contains(master.id) else {
            throw KeyVaultError("\(master.id) is the master key in use: name the new one with --keys")
        }
        try await rewrap { (present) throws(KeyVaultError) in
            let known = present.document.wrappings.map(\.id)
            if let unknown = ids.first(where: { !known.contains($0) }) {
                throw KeyVaultError("no master key \(unknown) wraps the keys")
            }
            // For the error that says which master key is needed.
            _ = try await self.dataKey(of: present.document)
            let others = known.filter { $0 != self.master.id && !ids.contains($0) }
            guard others.isEmpty else {
                let names = others.map { "\($0)" }.joined(separator: ", ")
                throw KeyVaultError(
                    "the master key \(names) would remain, and is needed for the new data key: remove it as well")
            }
            let key = self.newDataKey()
            return (key, [try await self.wrapping(of: key, by: self.master)])
        }
    }

    private func rewrap(
        _ change: (Reading) async throws(KeyVaultError) -> (key: SecretBytes, wrappings: [WrappedDocument.Wrapping])?
    ) async throws(KeyVaultError) {
        for _ in 0..<Self.attempts {
            guard let present = try await wholeReading() else { throw KeyVaultError("there are no keys yet") }
            guard let (key, wrappings) = try await change(present) else { return }
            let bytes = try present.document.open(
                version: present.version, key: try await dataKey(of: present.document), tail: present.tail)
            if try await write(bytes, key, wrappings, after: present) != nil { return }
        }
        throw KeyVaultError("others change the keys at the same time, again and again")
    }
}
