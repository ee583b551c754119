internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayState

/// Where uses of tokens are remembered: those of one space know of each other, and of no others.
enum ConsumptionSpace: Sendable {
    /// All places, unless a policy says otherwise.
    case shared
    /// `verifyAppCheckToken`, where a policy has it count by itself.
    case verification
    /// A service, where a policy has it count by itself.
    case service(String)
    /// Uses that are only counted: of session tokens, where a second use is let through.
    case counted

    private var name: String {
        switch self {
        case .shared: "tokens/used"
        case .verification: "tokens/used/verification"
        case .service(let name): "tokens/used/services/\(name)"
        case .counted: "tokens/counted"
        }
    }

    /// Where an app's token is remembered, by its `jti` and by who chose that: a digest, because a `jti` may be as long as
    /// a store's names may be.
    func key(of accepted: TokenInspection.Accepted) -> StateKey {
        let resource = Array(accepted.app.identity.resource.utf8)
        let count = UInt64(resource.count).bigEndianBytes[...]
        let id = Array(accepted.token.id.utf8)
        guard let chooser = accepted.token.idChooser.map({ Array($0.utf8) }) else {
            return StateKey(name, Hex.encode(SHA256.hash(count, resource[...], id[...])))
        }
        let digest = SHA256.hash(
            count, resource[...], UInt64(chooser.count).bigEndianBytes[...], chooser[...], id[...])
        return StateKey(name, "chosen/\(Hex.encode(digest))")
    }
}

extension ConsumptionSpace {
    /// The spaces of versions up to 0.2, where `verifyAppCheckToken` and all other places counted apart.
    enum Former: String {
        case verification = "tokens/verification"
        case services = "tokens/services"

        /// Where such a version remembered a token; nil for one that it cannot have issued.
        func key(of accepted: TokenInspection.Accepted) -> StateKey? {
            guard accepted.token.idChooser.isNil else { return nil }
            return StateKey(rawValue, ConsumptionSpace.shared.key(of: accepted).name)
        }
    }
}
