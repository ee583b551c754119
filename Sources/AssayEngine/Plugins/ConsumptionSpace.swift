internal import AssayCore

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

    /// The namespace of the state store.
    var name: String {
        switch self {
        case .shared: "tokens/used"
        case .verification: "tokens/used/verification"
        case .service(let name): "tokens/used/services/\(name)"
        case .counted: "tokens/counted"
        }
    }
}
