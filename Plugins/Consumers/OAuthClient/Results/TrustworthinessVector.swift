internal import AssayCore

/// The claims of an attestation result about an app: a number for each AR4SI claim (draft-ietf-rats-ar4si).
struct TrustworthinessVector: Sendable, Hashable {
    /// The claims, in AR4SI's order.
    enum Claim: String, Sendable, Hashable, CaseIterable {
        case instanceIdentity = "instance-identity"
        case configuration
        case executables
        case fileSystem = "file-system"
        case hardware
        case runtimeOpaque = "runtime-opaque"
        case storageOpaque = "storage-opaque"
        case sourcedData = "sourced-data"
    }

    /// How much a claim, or all of them, is worth.
    enum Tier: Int, Sendable, Comparable {
        case none = 0
        case affirming = 2
        case warning = 32
        case contraindicated = 96

        /// The tier of a number: those below zero are for meanings of the verifier's own.
        init(_ number: Int) {
            switch number {
            case 2...31, -32 ... -2: self = .affirming
            case 32...95, -96 ... -33: self = .warning
            case -1...1: self = .none
            default: self = .contraindicated
            }
        }

        static func < (left: Tier, right: Tier) -> Bool { left.rawValue < right.rawValue }

        /// As JSON has it.
        var name: String {
            switch self {
            case .none: "none"
            case .affirming: "affirming"
            case .warning: "warning"
            case .contraindicated: "contraindicated"
            }
        }
    }

    static let range = -128...127

    var numbers: [Claim: Int]

    /// The worst of the claims; missing claims do not count.
    var status: Tier {
        numbers.values.map { Tier($0) }.max() ?? .none
    }

    /// What tokens of a provider say.
    ///
    /// A token names its provider and nothing else of the evidence.
    ///
    /// - `app_attest`: a genuine Apple device holds the key, and an app with the right identity made it. It is unknown
    ///   what else runs there: the claim about executables is affirming with a private number, since AR4SI's numbers
    ///   are about the software that a machine started with. The token does not say whether it was Apple's environment
    ///   for development.
    /// - `device_check`: a genuine Apple device, and nothing of the app or the instance.
    /// - `debug`: the app used a debug token: every claim warns.
    /// - all others: nothing, unless the policy says something.
    static func standard(for provider: String?) -> TrustworthinessVector {
        provider.flatMap { standards[$0] } ?? TrustworthinessVector(numbers: [:])
    }

    private static let standards: [ExactText: TrustworthinessVector] = [
        "app_attest": TrustworthinessVector(numbers: [.instanceIdentity: 2, .hardware: 2, .executables: -2]),
        "device_check": TrustworthinessVector(numbers: [.instanceIdentity: 0, .hardware: 2]),
        "debug": TrustworthinessVector(numbers: Dictionary(uniqueKeysWithValues: Claim.allCases.map { ($0, 32) })),
    ]
}
