internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// The services whose levels administrators have set to others than those of the policy, for operators.
final class LevelOverrides: Sendable {
    /// Of how many projects the levels are read at each look, so that it takes little of the store.
    private static let projectLimit = 500
    /// The deny list is read by the same task: it must not wait for long.
    private static let timeLimit = Duration.seconds(2)

    /// In words, as they were found at the last look.
    private let found = Mutex<[String]>([])

    /// What operators should know although everything works; nil for nothing.
    var note: String? {
        let found = found.withLock { $0 }
        guard let first = found.first else { return nil }
        let more = found.count > 1 ? ", and \(found.count - 1) more" : ""
        return "administrators have set other levels than the policies: \(first)\(more)"
    }

    /// Reads what is set, and logs what was not known before; if the store does not answer in time, nothing changes.
    func look(_ policies: BoundPolicies, _ host: PluginHost) async {
        let read = try? await Deadline.run(Self.timeLimit, clock: host.clock) { try await Self.read(policies, host) }
        guard let words = read else { return }
        let before = found.withLock { found in
            defer { found = words }
            return Set(exactly: found)
        }
        for line in words.prefix(100) where !before.contains(ExactText(line)) {
            host.logger.warning(
                "the level that administrators have set is in force, not that of the policy",
                metadata: ["service": "\(line)"])
        }
    }

    private static func read(_ policies: BoundPolicies, _ host: PluginHost) async throws -> [String] {
        var words: [String] = []
        var rest = projectLimit
        for (name, project) in policies.projects where rest > 0 && name == ExactText(project.name) {
            let services = policies.services(of: project)
            let editable = services.names.compactMap { services[$0.string] }.filter(\.isEditable)
            guard !editable.isEmpty else { continue }
            rest -= 1
            let state = try await ProtectionState.read(of: project.identity, in: host.store)
            for service in editable {
                guard let edit = state.services[service.id], edit.levels != service.levels else { continue }
                words.append(
                    "\(project.name)/services/\(service.id) is \(edit.levels.enforcement.rawValue) since \(edit.time), and "
                        + "\(service.levels.enforcement.rawValue) at \(service.location)")
            }
        }
        return words.sortedExactly()
    }
}
