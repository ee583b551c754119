public import AssayCore
public import AssayYAML

/// Which earlier uses of a token are seen.
public enum ConsumptionScope: String, Sendable, Hashable, CaseIterable {
    /// Those everywhere: a limited-use token can be used once, in any service.
    case shared
    /// Its own only, as in Google's service; they are not seen elsewhere.
    case separate
}

/// What a policy says of one service that App Check protects in a project.
public struct ServicePolicy: Sendable {
    /// The service's name: one of Google's, such as `firestore.googleapis.com`, or the operator's own.
    public let id: String
    /// The level of protection; where it can be edited, the initial one.
    public let enforcement: EnforcementMode
    /// The level of protection from tokens that are shown twice; not above `enforcement`.
    public let replayProtection: EnforcementMode
    /// Whether administrators may change the levels through the API; what they set is kept in the state store.
    public let isEditable: Bool
    /// Whether tokens of providers for development are accepted here.
    public let acceptsDevelopment: Bool
    /// Whether tokens of OAuth clients are accepted here.
    public let acceptsOAuthClients: Bool
    /// Which uses of a token count here.
    public let consumption: ConsumptionScope
    /// Where it stands.
    public let location: SourceLocation

    /// The service whose clients are OAuth clients.
    package static let oauth2 = "oauth2.googleapis.com"

    /// The services that Google's App Check knows (the discovery document, `Service.name`).
    public static let googleServices = [
        "firebasedatabase.googleapis.com", "firebasedataconnect.googleapis.com", "firebaseml.googleapis.com",
        "firebasestorage.googleapis.com", "firestore.googleapis.com", "identitytoolkit.googleapis.com",
        "maps-backend.googleapis.com", "oauth2.googleapis.com", "places.googleapis.com",
    ]
}
