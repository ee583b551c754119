public import AssayCore

/// A JWT that this service signed.
public struct OwnToken: Sendable, Hashable {
    /// `typ` of its header.
    @Exact public private(set) var type: String
    /// Its claims, an object; none of them is checked.
    public let claims: JSON

    /// Makes a token from its verified header and claims.
    public init(type: String, claims: JSON) {
        self.type = type
        self.claims = claims
    }
}
