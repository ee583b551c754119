internal import AssayKit

/// What the providers of one snapshot do between calls. A change of policies makes another list.
final class UpkeepList: Sendable {
    let entries: [UpkeepEntry]

    init(_ entries: [UpkeepEntry]) {
        self.entries = entries
    }

    /// Those of a snapshot's apps, each once, although apps have two names and providers several methods.
    convenience init(_ apps: [ExactText: AppEntry]) {
        var spaces: Set<ExactText> = []
        var entries: [UpkeepEntry] = []
        for (name, app) in apps where name == ExactText(app.identity.resource) {
            for method in app.methods.values {
                guard let upkeep = method.provider.upkeep, spaces.insert(method.provider.space).inserted else {
                    continue
                }
                entries.append(
                    UpkeepEntry(
                        space: method.provider.space, provider: method.provider.descriptor.name, app: app.identity,
                        upkeep: upkeep))
            }
        }
        self.init(entries)
    }
}

/// The upkeep of one provider for one app.
struct UpkeepEntry: Sendable {
    /// The provider's corner of the state store, which names app and provider.
    let space: String
    let provider: String
    let app: AppIdentity
    let upkeep: Upkeep
}
