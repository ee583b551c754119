public import AssayKit
public import AssayYAML

/// What a policy says of one service that App Check protects in a project.
public struct ServicePolicy: Sendable {
    /// The service's name: one of Google's, such as `firestore.googleapis.com`, or the operator's own.
    public let id: String
    /// The level of protection; where it can be edited, the one to begin with.
    public let enforcement: EnforcementMode
    /// The level of protection from tokens that are shown twice; not above `enforcement`.
    public let replayProtection: EnforcementMode
    /// Whether administrators may change the levels through the API; what they set is kept in the state store.
    public let isEditable: Bool
    /// Whether tokens of providers for development are good here.
    public let acceptsDevelopment: Bool
    /// Where it stands.
    public let location: SourceLocation

    /// The services that Google's App Check knows (the discovery document, `Service.name`).
    public static let googleServices = [
        "firebasedatabase.googleapis.com", "firebasedataconnect.googleapis.com", "firebaseml.googleapis.com",
        "firebasestorage.googleapis.com", "firestore.googleapis.com", "identitytoolkit.googleapis.com",
        "maps-backend.googleapis.com", "oauth2.googleapis.com", "places.googleapis.com",
    ]
}
