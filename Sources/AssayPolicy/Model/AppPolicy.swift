public import AssayKit
public import AssayYAML

/// The policy of one app or OAuth client.
public struct AppPolicy: Sendable {
    public let identity: AppIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// The other name that the resource goes by, with the project's ID in place of its number; nil when it has one name.
    public let alias: String?
    public let providers: [ProviderPolicy]
    /// How many calls are answered; nil for all.
    public let rateLimit: RateLimit?
    /// Whether nothing is wrong with the identity, so that providers can be made for it.
    package let isSound: Bool
    /// Where it stands.
    public let location: SourceLocation
}
