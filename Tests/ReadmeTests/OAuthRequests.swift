import AssayClient
import AssayClientHTTP

/// The client of an authorization server that authenticates clients by attestation.
func makeOAuthClient(_ appCheck: AppCheck, _ options: AppCheckOptions) throws -> OAuthClient {
    let attestations = try ClientAttestations(
        appCheck: appCheck, endpoint: "https://assay.example.com", client: "example-ios", keys: OpenSSLKeys(),
        options: options)
    return OAuthClient(server: try AuthorizationServer(issuer: "https://login.example.com"), attestations: attestations)
}

/// The tokens for an authorization code, bound to the key of this instance.
func tokens(for code: String, _ client: OAuthClient) async throws(AppCheckError) -> [UInt8] {
    let form = "grant_type=authorization_code&client_id=example-ios&code=\(code)"
    let request = ClientRequest(
        method: "POST", url: "https://login.example.com/token",
        headers: [ClientHeader("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
    return try await client.send(request).body
}

/// The orders, from a resource server.
func orders(_ accessToken: String, _ client: OAuthClient) async throws(AppCheckError) -> [UInt8] {
    let request = ClientRequest(url: "https://api.example.com/orders")
    return try await client.send(request, accessToken: accessToken).body
}

/// The authorization request of a sign-in, with an App Check token for one use.
func signIn(_ appCheck: AppCheck) async throws(AppCheckError) -> String {
    try await appCheck.clientAssertion().adding(
        to: "https://login.example.com/auth?client_id=example-ios&response_type=code")
}
