public import AssayCore
public import AssayYAML

/// Which earlier uses of a token count.
public enum ConsumptionScope: String, Decodable, Sendable, Hashable, CaseIterable {
    /// Uses everywhere: a limited-use token can be used once, in any service.
    case shared
    /// Only its own uses, as in Google's service; they do not count elsewhere.
    case separate
}

/// The policy of one service that App Check protects in a project.
public struct ServicePolicy: Sendable {
    /// The service's name: one of Google's, such as `firestore.googleapis.com`, or the operator's own.
    public let id: String
    /// The level of protection; the initial one if it can be edited.
    public let enforcement: EnforcementMode
    /// The level of protection against tokens that are presented twice; not above `enforcement`.
    public let replayProtection: EnforcementMode
    /// Whether administrators may change the levels through the API; their changes are kept in the state store.
    public let isEditable: Bool
    /// Whether tokens of providers for development are accepted here.
    public let acceptsDevelopment: Bool
    /// Whether tokens of OAuth clients are accepted here.
    public let acceptsOAuthClients: Bool
    /// Which uses of a token count here.
    public let consumption: ConsumptionScope
    /// The place of the policy in its file.
    public let location: SourceLocation

    /// Warns that no transport asks for the service: backends are no entries of `services`.
    fileprivate var warning: Diagnostic? {
        guard isEditable || enforcement > .off else { return nil }
        return Diagnostic(
            .warning, location: location,
            message: "nothing enforces the levels of `\(id)`: a server enforces only the levels of backends",
            hint:
                "make it a backend in `consumers.custom_backend.backends`, with `editable: true` where administrators may change "
                + "its levels; a program that asks `Engine.protect` enforces it as it is")
    }

    /// The service whose clients are OAuth clients.
    package static let oauth2 = "oauth2.googleapis.com"

    /// The services that Google's App Check knows (the discovery document, `Service.name`).
    public static let googleServices = [
        "firebasedatabase.googleapis.com", "firebasedataconnect.googleapis.com", "firebaseml.googleapis.com",
        "firebasestorage.googleapis.com", "firestore.googleapis.com", "identitytoolkit.googleapis.com",
        "maps-backend.googleapis.com", "oauth2.googleapis.com", "places.googleapis.com",
    ]
}

extension PolicySet {
    /// Warnings about services whose levels only a program enforces that asks for them.
    package var servicesWithoutBackend: [Diagnostic] { projects.flatMap(\.services).compactMap(\.warning) }
}
