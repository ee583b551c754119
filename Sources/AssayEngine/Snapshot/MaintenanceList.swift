package import AssayCore
package import AssayKit
package import Logging

/// The maintenance of the providers and consumers of one snapshot.
///
/// A change of policies makes another list.
package final class MaintenanceList: Sendable {
    package let entries: [MaintenanceEntry]

    init(_ entries: [MaintenanceEntry]) {
        self.entries = entries
    }

    /// The maintenance of a snapshot's apps and projects, each once, although they have two names.
    convenience init(_ apps: [ExactText: AppBinding], _ consumers: ConsumerBindings) {
        var entries: [MaintenanceEntry] = []
        for (name, app) in apps where name == app.name {
            for provider in app.providers.values {
                guard let maintenance = provider.maintenance else { continue }
                entries.append(
                    MaintenanceEntry(
                        space: provider.space, plugin: provider.descriptor.name, subject: .app(app.identity),
                        maintenance: maintenance))
            }
        }
        for consumer in consumers.everywhere {
            guard let maintenance = consumer.instance.maintenance else { continue }
            entries.append(
                MaintenanceEntry(
                    space: consumer.space, plugin: consumer.descriptor.name,
                    subject: .project(consumer.project.identity), maintenance: maintenance))
        }
        self.init(entries)
    }
}

/// The maintenance of one provider for one app, or of one consumer for one project.
package struct MaintenanceEntry: Sendable {
    package enum Subject: Sendable {
        /// Of a provider.
        case app(AppIdentity)
        /// Of a consumer.
        case project(ProjectIdentity)
    }

    /// The plugin's namespace of the state store, which names the plugin and the app or project.
    package let space: String
    /// The name of the provider or of the consumer.
    package let plugin: String
    package let subject: Subject
    package let maintenance: Maintenance

    /// The context of a run.
    package func context(clock: HostClock, deadline: Instant, state: StateSpace, logger: Logger) -> MaintenanceContext {
        switch subject {
        case .app(let app):
            MaintenanceContext(app: app, clock: clock, deadline: deadline, state: state, logger: logger)
        case .project(let project):
            MaintenanceContext(project: project, clock: clock, deadline: deadline, state: state, logger: logger)
        }
    }

    package var kind: MaintenanceRecord.Kind {
        switch subject {
        case .app: .provider
        case .project: .consumer
        }
    }

    /// The canonical name of the app or of the project.
    package var resource: String {
        switch subject {
        case .app(let app): app.resource
        case .project(let project): "projects/\(project.number)"
        }
    }
}
