public import AssayCore

/// The description that a state store, a sink for decisions or a key vault gives of itself, read before it is opened.
public struct StorageDescriptor: Sendable, Hashable {
    /// The version of the contracts that this release describes.
    public static let currentContract = 3
    /// The oldest version that is accepted, with a warning.
    public static let oldestContract = 2

    /// What an operator writes before the colon, as in `--state sqlite:PATH`: lower-case letters, digits and
    /// underscores.
    @Exact public private(set) var scheme: String
    /// Other words that an operator may write in place of the scheme, such as `postgresql`.
    @Exact public private(set) var aliases: [String]
    /// The version of the contract that it was built for; by default that of the kit that it is compiled with.
    public let contract: Int
    /// Its own version, in any form; empty when it has none.
    @Exact public private(set) var version: String
    /// One sentence for people.
    @Exact public private(set) var summary: String
    /// What an operator writes after the colon, as help texts name it: `PATH`.
    @Exact public private(set) var location: String
    /// Whether operators can rely on its behaviour.
    public let stability: PluginStability
    /// What it protects, and whom it has to trust for that; nil when it does not say.
    public let posture: SecurityPosture?
    /// What a crash leaves of the data.
    public let survival: StorageSurvival
    /// Who may use one location at a time.
    public let sharing: StorageSharing

    /// Describes a store, a sink or a vault.
    public init(
        scheme: String, contract: Int = currentContract, version: String = "", summary: String,
        location: String = "LOCATION", stability: PluginStability = .experimental, posture: SecurityPosture? = nil,
        survival: StorageSurvival,
        sharing: StorageSharing, aliases: [String] = []
    ) {
        self.contract = contract
        self.stability = stability
        self.posture = posture
        self.survival = survival
        self.sharing = sharing
        self.scheme = scheme
        self.aliases = aliases
        self.version = version
        self.summary = summary
        self.location = location
    }
}

/// What data survives after the operation that wrote it has returned.
@nonexhaustive public enum StorageSurvival: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the data ends with the process.
    case nothing
    /// The end of the process, `kill -9` included, but not a loss of power.
    case processEnd
    /// A loss of power as well.
    case powerLoss
    /// The loss of the machine as well: the data is on others.
    case machineLoss
}

/// Who may use one location at a time.
@nonexhaustive public enum StorageSharing: String, Sendable, Hashable, CaseIterable {
    /// One process.
    case process
    /// The processes of one machine.
    case machine
    /// Servers on several machines.
    case servers
}
