/// A ring as it is stored.
struct StoredKeys: Sendable {
    let ring: KeyRing
    let mark: KeyChangeMark?
    /// What a policy had changed in it, just now.
    var changes: [KeyRing.Change] = []
}
