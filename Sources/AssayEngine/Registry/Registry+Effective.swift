internal import AssayCore
internal import AssayKit
public import AssayPolicy

extension Registry {
    /// The same policies as they come into force: with the sections of platforms read, and with what apps of a platform share merged into the
    /// sections of their providers.
    ///
    /// ``PolicySet/check(_:host:refusesDevelopment:)`` and an engine do this themselves; a comparison by `PolicyChanges` needs it.
    public func effective(_ policies: PolicySet) -> PolicySet {
        policies.reading(platforms, providers: unavailable.isEmpty ? Array(providers.keys.map(\.string)) : nil)
    }

    /// The differences in meaning between two sets that were only read, for a log or a record of a reload.
    ///
    /// A hundred apps take milliseconds.
    public func changes(from old: PolicySet, to new: PolicySet) -> PolicyChanges {
        PolicyChanges(from: effective(old), to: effective(new))
    }
}
