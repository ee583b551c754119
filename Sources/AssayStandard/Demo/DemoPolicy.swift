#if Simulator
internal import AssayCommand
internal import AssayCore
internal import AssayTesting

/// What the demonstration's server is configured with.
enum DemoPolicy {
    static let project = "projects/example-project"
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let android = "projects/example-project/apps/1:1234567890:android:321abc456def7890"
    static let web = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
    static let client = "oauthClients/1234567890-example.apps.googleusercontent.com"
    static let appID = "ABCDE12345.com.example.app"
    static let issuer = "https://firebaseappcheck.googleapis.com/1234567890"

    /// The example policy with roots that are not Apple's and Google's: only this server trusts simulated devices.
    ///
    /// - Parameters:
    ///   - revoked: the path of a list of revoked certificates.
    ///   - play: the path of the keys of Google Play's responses.
    static func text(
        trusting authority: SimulatedAppleCA, _ android: SimulatedAndroidAuthority, revoked: String, play: String,
        pages: DemoPages, debugToken: String, users: DemoUsers, account: DemoAccount
    ) -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    environments: [production, development]
                    receipts: required
                    trust_anchor: |
        \(indented(authority.rootCertificatePEM, by: 14))
                    receipt_trust_anchor: |
        \(indented(authority.receiptRootCertificatePEM, by: 14))
                  debug:
                    tokens:
                      - name: demo
                        sha256: \(DebugTokenCommand.hash(of: debugToken))
              - id: 1:1234567890:android:321abc456def7890
                android:
                  package: \(SimulatedAndroidState().package)
                  signing_digests: ["\(Hex.encode(SimulatedAndroidState().signingDigest))"]
                providers:
                  play_integrity:
                    response_keys: [{decryption_key: "file:\(play)", verification_key: "file:\(play)"}]
                  android_key:
                    revocation: {list: "\(revoked)", stale: accept}
                    roots: |
        \(indented(android.rootPEM, by: 14))
              - id: 1:1234567890:web:321abc456def7890
        \(indented(pages.policy.joined(separator: "\n"), by: 8))
            oauth_clients:
              - id: 1234567890-example.apps.googleusercontent.com
                app: 1:1234567890:ios:321abc456def7890
            consumers:
              custom_backend:
                backends:
                  orders:
                    original_request: x-original
                    routes:
                      - {path: /payments/*, methods: [POST], tokens: {limited_use: true}}
              fleet_engine:
                actors: [{issuer: "\(DemoUsers.issuer)", audiences: ["\(DemoUsers.audience)"], jwks: "file:\(users.path)"}]
                account: "file:\(account.path)"
                roles:
                  consumer: {trip: {claim: trip_id}}
              oauth_client:
                tokens: {limited_use: true}
                authorization_servers: ["\(DemoUsers.issuer)"]
                clients: {"1:1234567890:ios:321abc456def7890": 1234567890-example.apps.googleusercontent.com}
                attester: {ttl: 24h}
        """
    }

    /// What a person can try by hand.
    static func commands(base: String, debugToken: String) -> String {
        """

        Serving on \(base) until interrupted. Try:

          curl -s \(base)/v1/jwks
          curl -s -X POST '\(base)/v1/\(app):generateAppAttestChallenge'
          curl -s -X POST '\(base)/v1/\(app):exchangeDebugToken' -d '{"debug_token":"\(debugToken)"}'
          curl -s -X POST '\(base)/v1/\(app):exchangeDebugToken' -d '{"debug_token":"something else"}'
          AppCheckDebugToken=\(debugToken) \(AssayProgram.current.name) token limited-use --provider debug \
        --endpoint \(base) --app \(app)
          curl -s \(base)/readyz
        """
    }

    private static func indented(_ text: String, by count: Int) -> String {
        let space = String(repeating: " ", count: count)
        return text.split(separator: "\n").map { space + $0 }.joined(separator: "\n")
    }
}
#endif
