internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The places where uses of tokens are remembered; each space is separate from the others.
enum ConsumptionSpace: Sendable {
    /// All places, unless a policy says otherwise.
    case shared
    /// `verifyAppCheckToken`, if a policy has it count separately.
    case verification
    /// A service, if a policy has it count separately.
    case service(String)
    /// Uses that are only counted: those of session tokens, if a second use is allowed.
    case counted

    private var name: String {
        switch self {
        case .shared: "tokens/used"
        case .verification: "tokens/used/verification"
        case .service(let name): "tokens/used/services/\(name)"
        case .counted: "tokens/counted"
        }
    }

    /// The key of an app's token, made of its `jti` and who chose that: a digest, because a `jti` may be as long as a
    /// store's longest name.
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
