package import AssayCore
package import AssayEngine
internal import AssayKit
package import AssayPolicy

/// The methods that apps and projects get or lose from one set of policies to another.
package struct MethodChanges: Sendable {
    /// The methods of one app, OAuth client or project.
    package struct Change: Sendable {
        /// The name of the resource.
        @Exact package private(set) var resource: String
        /// The methods that it gets, by their names.
        @Exact package private(set) var added: [String]
        /// The methods that it loses.
        @Exact package private(set) var removed: [String]
    }

    /// The changes in the order of the names.
    package private(set) var all: [Change] = []

    /// Compares two sets, each with the plugins of its program.
    package init(from old: (policies: PolicySet, registry: Registry), to new: (policies: PolicySet, registry: Registry))
    {
        let (before, after) = (old.registry.methods(in: old.policies), new.registry.methods(in: new.policies))
        for resource in Set(before.keys).union(after.keys).sorted() {
            let (left, right) = (before[resource] ?? [], after[resource] ?? [])
            guard left != right else { continue }
            all.append(
                Change(
                    resource: resource.string, added: right.subtracting(left).sorted().map(\.string),
                    removed: left.subtracting(right).sorted().map(\.string)))
        }
    }

    /// Whether there are none.
    package var isEmpty: Bool { all.isEmpty }

    /// One line for each resource: `projects/1/apps/1:1:ios:a: methods added: exchangeDebugToken`.
    package var lines: [String] {
        all.map { change in
            let parts = [("added", change.added), ("removed", change.removed)].filter { !$0.1.isEmpty }
            return "\(change.resource): "
                + parts.map { "methods \($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
        }
    }

    /// An object for each resource: `resource`, `methods_added`, `methods_removed`.
    package var json: [JSON] {
        all.map { change in
            [
                "resource": .string(change.resource), "methods_added": .array(change.added.map { .string($0) }),
                "methods_removed": .array(change.removed.map { .string($0) }),
            ]
        }
    }
}

extension Registry {
    /// The methods of each app, OAuth client and project of policies: those of its providers or consumers that are for its kind.
    fileprivate func methods(in policies: PolicySet) -> [ExactText: Set<ExactText>] {
        var methods: [ExactText: Set<ExactText>] = [:]
        for app in policies.apps {
            let names = Set(app.providers.map { ExactText($0.name) })
            let offered = self.methods.filter { method in
                method.resources.contains(app.identity.kind)
                    && provider(of: method.name).map { names.contains(ExactText($0)) } ?? false
            }
            methods[app.identity.resource] = Set(exactly: offered.map(\.name))
        }
        for project in policies.projects {
            let offered = project.consumers.compactMap { consumers[$0.name] }.flatMap { consumer in
                consumer.methods.map(\.name) + (consumer.exchangesTokens ? [TokenExchange.method.name] : [])
            }
            methods["projects/\(project.identity.number)"] = Set(exactly: offered)
        }
        return methods
    }
}
