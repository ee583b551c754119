import AssayCore
import AssayPolicy
import Testing

@Suite struct IssuerMetadataTests {
    @Test(arguments: [
        ("https://a.example/1", "1", "https://a.example/"),
        ("https://a.example:8443/1", "1", "https://a.example:8443/"),
        ("https://a.example/b/c/1", "b/c/1", "https://a.example/"),
        ("https://a.example/b/c/1", "c/1", "https://a.example/b/"),
        ("https://a.example/b/c/1", "1", "https://a.example/b/c/"),
    ])
    func `what is left of the issuer is where the server is`(issuer: String, path: String, server: String) {
        let json = IssuerMetadata(of: issuer, at: path, keySet: [:])?.json(grant: "g")
        #expect(json?["issuer"] == .string(issuer))
        #expect(json?["jwks_uri"] == .string(server + "v1/jwks"))
        #expect(json?["token_endpoint"] == .string(server + "token"))
    }

    @Test(arguments: [
        ("https://a.example/11", "1"), ("https://a.example/1", "a.example/1"), ("https://a.example/1", "/a.example/1"),
        ("https://a.example/b/1", "c/1"), ("https://a.example/b/1", "B/1"), ("https://a.example/1", ""),
        ("https://a.example/1", "/1"), ("https://a.example", "a.example"), ("", ""), ("1", "1"),
        ("https://firebaseappcheck.googleapis.com/1", "1"),
    ])
    func `no other path is one of the issuer, and the standard issuer is Google's`(issuer: String, path: String) {
        #expect(IssuerMetadata(of: issuer, at: path, keySet: [:]) == nil)
    }

    @Test func `the algorithms are those of the keys`() {
        let keys: JSON = ["keys": [["alg": "RS256"], ["alg": "ES256"], ["alg": "RS256"]]]
        let json = IssuerMetadata(of: "https://a.example/1", at: "1", keySet: keys)?.json(grant: "g")
        #expect(json?["id_token_signing_alg_values_supported"] == ["ES256", "RS256"])
    }
}
