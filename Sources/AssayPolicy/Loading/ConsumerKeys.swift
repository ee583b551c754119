/// The keys that the kernel reads in every consumer's section.
package enum ConsumerKeys {
    /// What is demanded of App Check tokens.
    package static let tokens = "tokens"
    /// Whose JWTs name users.
    package static let actors = "actors"
    static let all = [tokens, actors]
}
