internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// What administrators have set in the state that operators should know: levels of services that are not those of the policy, and
/// resource policies that protect nothing.
final class LevelOverrides: Sendable {
    /// What was found, in words.
    private struct Findings {
        var levels: [String] = []
        var resourcePolicies: [String] = []
    }

    /// Of how many projects the levels are read at each look, so that it takes little of the store.
    private static let projectLimit = 500
    /// The deny list is read by the same task: it must not wait for long.
    private static let timeLimit = Duration.seconds(2)

    /// As it was at the last look.
    private let found = Mutex(Findings())

    /// The services whose levels are not those of the policy; nil for none.
    var note: String? {
        Self.note("administrators have set other levels than the policies", found.withLock { $0.levels })
    }

    /// The resource policies that are stricter than their service; nil for none.
    var noteOfResourcePolicies: String? {
        Self.note(
            "a resource policy is stricter than its service, and so protects nothing: who leaves the token out is let through",
            found.withLock { $0.resourcePolicies })
    }

    private static func note(_ words: String, _ found: [String]) -> String? {
        guard let first = found.first else { return nil }
        return "\(words): \(first)\(found.count > 1 ? ", and \(found.count - 1) more" : "")"
    }

    /// Reads what is set, and logs what was not known before; if the store does not answer in time, nothing changes.
    func look(_ policies: BoundPolicies, _ host: PluginHost) async {
        let read = try? await Deadline.run(Self.timeLimit, clock: host.clock) { try await Self.read(policies, host) }
        guard let read else { return }
        let before = found.withLock { found in
            defer { found = read }
            return found
        }
        for line in Self.new(read.levels, before.levels) {
            host.logger.warning(
                "the level that administrators have set is in force, not that of the policy",
                metadata: ["service": "\(line)"])
        }
        for line in Self.new(read.resourcePolicies, before.resourcePolicies) {
            host.logger.warning(
                "a resource policy is stricter than its service, and so protects nothing: who leaves the token out is let through; set the level of the service, too",
                metadata: ["policy": "\(line)"])
        }
    }

    private static func new(_ lines: [String], _ before: [String]) -> [String] {
        let known = Set(exactly: before)
        return lines.prefix(100).filter { !known.contains(ExactText($0)) }
    }

    private static func read(_ policies: BoundPolicies, _ host: PluginHost) async throws -> Findings {
        var found = Findings()
        var rest = projectLimit
        for (name, project) in policies.projects where rest > 0 && name == ExactText(project.name) {
            let services = policies.services(of: project)
            let editable = services.names.compactMap { services[$0.string] }.filter(\.isEditable)
            guard !editable.isEmpty else { continue }
            rest -= 1
            let state = try await ProtectionState.read(of: project.identity, in: host.store)
            for service in editable {
                guard let edit = state.services[service.id], edit.levels != service.levels else { continue }
                found.levels.append(
                    "\(project.name)/services/\(service.id) is \(edit.levels.enforcement.rawValue) since \(edit.time), and "
                        + "\(service.levels.enforcement.rawValue) at \(service.location)")
            }
            found.resourcePolicies += services.weakResourcePolicies(state)
        }
        return Findings(
            levels: found.levels.sortedExactly(), resourcePolicies: found.resourcePolicies.sortedExactly())
    }
}

extension ProjectServices {
    /// The resource policies that are stricter than their service, in words.
    ///
    /// Which client a request is of, its token says: without a token, the level of the service counts.
    fileprivate func weakResourcePolicies(_ state: ProtectionState) -> [String] {
        guard let service = self[ResourcePolicy.service] else { return [] }
        let level = levels(of: service, state).enforcement
        return resourcePolicies(state).values.filter { $0.enforcement > level }.map {
            "\($0.target) is \($0.enforcement.rawValue), and the service is \(level.rawValue)"
        }
    }
}
