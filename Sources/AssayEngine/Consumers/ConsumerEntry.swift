internal import AssayJWT
internal import AssayKit

/// One consumer for one project.
final class ConsumerEntry: Sendable {
    let descriptor: PluginDescriptor
    let project: ProjectEntry
    /// What its section demands of tokens.
    let demand: TokenDemand
    /// Whose JWTs name users, by their `iss`.
    let actors: [ExactText: TrustedIssuer]
    let bound: BoundConsumer
    /// The consumer's corner of the state store.
    let space: String

    init(
        descriptor: PluginDescriptor, project: ProjectEntry, demand: TokenDemand, actors: [ExactText: TrustedIssuer],
        bound: BoundConsumer
    ) {
        self.descriptor = descriptor
        self.project = project
        self.demand = demand
        self.actors = actors
        self.bound = bound
        space = "\(descriptor.name)/\(project.name)"
    }
}

/// The consumers of all projects, and how requests find them.
struct ConsumerEntries: Sendable {
    /// By the canonical names of their projects, then by their own.
    private(set) var byProject: [ExactText: [ExactText: ConsumerEntry]] = [:]
    /// By the names that requests choose them by. Several have one name only if they are of one plugin, and the project of
    /// a token tells which is meant.
    private(set) var byAudience: [ExactText: [ConsumerEntry]] = [:]
    /// All instances of each consumer.
    private var byName: [ExactText: [ConsumerEntry]] = [:]

    mutating func add(_ entry: ConsumerEntry) {
        byProject[entry.project.name, default: [:]][entry.descriptor.name] = entry
        for audience in entry.bound.audiences { byAudience[audience, default: []].append(entry) }
        byName[entry.descriptor.name, default: []].append(entry)
    }

    /// The instances of a consumer.
    func all(_ consumer: String) -> [ConsumerEntry] { byName[consumer] ?? [] }

    /// The instance that has an audience.
    func find(_ consumer: String, audience: String) -> ConsumerEntry? {
        guard let found = byAudience[audience], found.count == 1 else { return nil }
        return found.first.flatMap { $0.descriptor.name.isExactly(consumer) ? $0 : nil }
    }
}
