public import AssayKit

extension FactName {
    /// The OAuth client that a request is about.
    public static let oauthClient: FactName = "oauth_client"
    /// The thumbprint of the client instance's key.
    public static let clientKey: FactName = "client_key"
    /// Who attested a client.
    public static let attester: FactName = "attester"
    /// What a client assertion turned out to be.
    public static let clientAssertion: FactName = "client_assertion"
    /// What introspection found of a token: `active`, or why it is not.
    public static let introspected: FactName = "introspected"
}
