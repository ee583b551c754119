internal import AssayKit

/// What the providers of one snapshot do between calls. A change of policies makes another list.
final class MaintenanceList: Sendable {
    let entries: [MaintenanceEntry]

    init(_ entries: [MaintenanceEntry]) {
        self.entries = entries
    }

    /// Those of a snapshot's apps, each once, although apps have two names and providers several methods.
    convenience init(_ apps: [ExactText: AppEntry]) {
        var spaces: Set<ExactText> = []
        var entries: [MaintenanceEntry] = []
        for (name, app) in apps where name == ExactText(app.identity.resource) {
            for method in app.methods.values {
                guard let maintenance = method.provider.maintenance, spaces.insert(method.provider.space).inserted
                else {
                    continue
                }
                entries.append(
                    MaintenanceEntry(
                        space: method.provider.space, provider: method.provider.descriptor.name, app: app.identity,
                        maintenance: maintenance))
            }
        }
        self.init(entries)
    }
}

/// The maintenance of one provider for one app.
struct MaintenanceEntry: Sendable {
    /// The provider's corner of the state store, which names app and provider.
    let space: String
    let provider: String
    let app: AppIdentity
    let maintenance: Maintenance
}
