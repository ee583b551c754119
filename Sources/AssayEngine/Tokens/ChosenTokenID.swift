internal import AssayCrypto
internal import AssayKit

/// A `jti` that a caller chose, and whose choice it was.
///
/// Tokens with one `jti` count as one where they are consumed, as with Google's service. So that nobody can use up the token
/// of somebody else by choosing its `jti`, that holds for the tokens of one chooser only: the token says in `jti_by` who that
/// was, as a digest that tells nothing more to those who read the token.
struct ChosenTokenID: Sendable {
    let id: String
    /// The claim `jti_by`.
    let chooser: String

    /// - Parameters:
    ///   - chooser: who chose it, among those that the provider can tell apart.
    ///   - provider: the token's.
    init(_ id: String, by chooser: String, through provider: String) {
        self.id = id
        let provider = Array(provider.utf8)
        let digest = SHA256.hash(
            UInt64(provider.count).bigEndianBytes[...], provider[...], Array(chooser.utf8)[...])
        self.chooser = Base64.encodeURL(digest.prefix(16))
    }
}
