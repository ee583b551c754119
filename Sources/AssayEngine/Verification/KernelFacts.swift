public import AssayKit

/// The facts that the kernel puts on record.
extension FactName {
    /// The `jti` of a token that was verified.
    public static let tokenID: FactName = "token_id"
    /// The app or OAuth client that a token speaks for.
    public static let app: FactName = "app"
    /// The `sub` of the JWT by which a caller was let in.
    public static let callerSubject: FactName = "caller_subject"
    /// The permission that a caller lacks.
    public static let permission: FactName = "permission"
    /// The consumer that a token was shown to.
    public static let consumer: FactName = "consumer"
    /// The user on whose behalf a token was shown: the `sub` of the user's token.
    public static let actor: FactName = "actor"
    /// Whether a token was consumed before.
    public static let alreadyConsumed: FactName = "already_consumed"
    /// A service whose level of protection was changed, and the levels that it has now.
    public static let serviceLevel: FactName = "service_level"
    /// A resource policy that was changed, and the level that it sets now.
    public static let resourceLevel: FactName = "resource_level"
}
