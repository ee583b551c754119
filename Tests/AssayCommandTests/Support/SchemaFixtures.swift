import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// Values for keys whose schema alone tells no good one.
///
/// A key that is added to a plugin may need one here.
struct SchemaFixtures {
    /// By key.
    let values: [String: JSON]
    /// Texts that the references among them lead to.
    private let secrets: [String: [UInt8]]

    /// Keys whose values must be something that exists, or that fits to something else, beyond any form.
    static let beyondForm: Set<String> = [
        "app", "projects[]", "trust_anchor", "receipt_trust_anchor", "roots", "list", "certificate", "public_key",
        "key_file",
        "private_key", "jwks", "account", "routes", "backends", "path", "methods[]", "fleet_reader_role",
        "authorization_servers[]", "decryption_key", "verification_key", "service_account", "profile", "extends",
        "token_key", "file", "when", "not", "max_evidence", "max_size", "shadow", "example_os", "refusal_status",
    ]

    init() throws {
        let authority = try SimulatedAppleCA(at: HostClock.system.now)
        let account = try PrivateKey.generate(.rsa(bits: 2048))
        let keyFile: JSON = [
            "client_email": "tokens@example-project.iam.gserviceaccount.com",
            "private_key": .string(SchemaFixtures.text(try account.pem())),
        ]
        let fleetEngine: JSON = [
            "type": "service_account", "client_email": "fleet@example-project.iam.gserviceaccount.com",
            "private_key_id": "key-1",
            "private_key": .string(SchemaFixtures.text(try account.pem())),
        ]
        values = [
            "app": "1:1234567890:ios:321abc456def7890",
            // It is the provider's section again.
            "shadow": [:],
            // Its names are reasons of the provider.
            "refusal_status": [:],
            "trust_anchor": .string(authority.rootCertificatePEM),
            "roots": .string(authority.rootCertificatePEM),
            "receipt_trust_anchor": .string(authority.receiptRootCertificatePEM),
            "certificate": .string(SchemaFixtures.certificate),
            "public_key": .string(
                String(decoding: try PrivateKey.generate(.ec(.p256)).publicKey.pem(), as: UTF8.self)),
            "service_accounts[]": [
                "email": "tokens@example-project.iam.gserviceaccount.com",
                "public_key": .string(String(decoding: try account.publicKey.pem(), as: UTF8.self)),
            ],
            "token_key": .string(Base64.encode(SchemaFixtures.tokenKey(account))), "file": "env:TOKEN_KEY",
            "private_key": "env:PRIVATE_KEY", "key_file": "env:KEY_FILE", "service_account": "env:FLEET_ENGINE",
            "decryption_key": "env:PLAY_KEYS", "verification_key": "env:PLAY_KEYS",
            "consumers": SchemaFixtures.consumers,
            "profile": .null, "extends": .null, "stage": "production", "then": "mark",
        ]
        secrets = [
            "env:PRIVATE_KEY": Array(SchemaFixtures.text(try PrivateKey.generate(.ec(.p256)).pem()).utf8),
            "env:TOKEN_KEY": Array(
                "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(SchemaFixtures.tokenKey(account)))\n-----END PUBLIC KEY-----\n"
                    .utf8),
            "env:KEY_FILE": keyFile.encoded, "env:FLEET_ENGINE": fleetEngine.encoded,
            "env:PLAY_KEYS": Array(try SimulatedPlayService(clock: .system).keyFile.utf8),
        ]
    }

    /// Sections of consumers whose keys depend on each other: not all of those that there are.
    private static let consumers: JSON = [
        "custom_backend": [
            "tokens": [
                "enforcement": "ENFORCED", "limited_use": true, "replay_protection": "OFF", "accept_development": true,
                "max_age": "10m",
            ],
            "backends": [
                "orders": [
                    "original_request": "x-original", "success_status": 200,
                    "routes": [
                        ["path": "/payments/*", "methods": ["POST"], "tokens": ["limited_use": true]],
                        ["path": "/bank/**", "tokens": ["max_age": "5m"]],
                    ],
                ]
            ],
        ],
        "fleet_engine": [
            "provider_id": "example-project", "audience": "https://fleetengine.googleapis.com/", "token_ttl": "1h",
            "account": "env:FLEET_ENGINE", "fleet_reader_role": "fleet_reader",
            "actors": [
                [
                    "issuer": "https://login.example.com/", "audiences": ["https://assay.example.com"],
                    "jwks": "https://login.example.com/.well-known/jwks.json",
                ]
            ],
            "callback": [
                "url": "https://backend.example.com/fleet-engine", "token": "env:CALLBACK", "time_limit": "2s",
            ],
            "roles": [
                "driver": ["vehicle": ["claim": "vehicle_id"], "callback": true, "wildcard": false],
                "consumer": ["callback": true],
                "trusted_delivery_driver": [
                    "account": "env:FLEET_ENGINE", "delivery_vehicle": ["claim": "vehicle_id"],
                    "task": ["claim": "tasks"], "actor": ["claim": "groups", "values": ["depot"]],
                ],
                "fleet_reader": ["actor": ["claim": "groups", "values": ["dispatch"]]],
            ],
        ],
        "oauth_client": ["authorization_servers": ["https://login.example.com"], "introspection": [:]],
    ]

    /// Any two other references lead to different secrets, which are good for everything.
    func secret(_ reference: SecretReference) -> [UInt8] {
        secrets["\(reference)"] ?? Array("secret-\(Hex.encode(Array("\(reference)".utf8)))".utf8)
    }

    private static func tokenKey(_ key: PrivateKey) -> [UInt8] {
        guard case .rsa(let half) = key.publicKey else { return [] }
        return BlindRSAPublicKey(half).subjectPublicKeyInfo
    }

    private static func text(_ bytes: SecretBytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A self-signed certificate of an RSA key that nobody has any more.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIDHTCCAgWgAwIBAgIUXbLdtXtNALrGvyejjOn6HchuD+gwDQYJKoZIhvcNAQEL
        BQAwHTEbMBkGA1UEAwwSdG9rZW5zLmV4YW1wbGUuY29tMCAXDTI2MTEyMTA2Mzk1
        N1oYDzIxMjYxMDI4MDYzOTU3WjAdMRswGQYDVQQDDBJ0b2tlbnMuZXhhbXBsZS5j
        b20wggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDc76cE6HJ/zhnRsZXO
        ycOUcRRc76IS0sc+f1k9oCoUWDkgOteU1W3vp2b8MmTt4bLkbIu8Om7dTXFnmIg8
        3+7eaPEumhnFZc4QUh/Ub5tsAQvuvNQBMdUk89l5HeeLPvkc7lLIZMPvdLWET0Zc
        lDq9Yv+LhgPLAT9CMizGSLQMHLXQNz6tVUp1cuw5nQEFlRtXiGKm6ciII3CgnH8l
        dQTVEohMtOFIlwGe0LVMgUx7/PeWEnS5XSlLOfAXuZks50kiYNI+bHDOUfziO6J+
        abWvyV52Tno4CGXOxsQO9cOnEDIoONDydE1lzTQZUZJOp0fwtYwCpVTeN31096Bt
        9KKRAgMBAAGjUzBRMB0GA1UdDgQWBBTHof8ih0iDQWkqav36QowZhq6fzjAfBgNV
        HSMEGDAWgBTHof8ih0iDQWkqav36QowZhq6fzjAPBgNVHRMBAf8EBTADAQH/MA0G
        CSqGSIb3DQEBCwUAA4IBAQA+K7255WcR1rd/mW8bB/28NFwN+PYXnS7m8orQbGI1
        QxRLP8AepiOrjHkmAXGhGuWf9oObank0MmKJxdTIYmfDI8rD8a7bfo8JshWtZh7D
        z7LstadUYmcuOnflsSp4R0vXasQRnPl3SDqEbSCiwPRKvmmRsXj/KCqB7yu44dYX
        Pht5peLn3SsDEJDifa7Y5QauGzLAOLST2Yirw6YwCH3VTwN7vykCuB1TwELwNkwt
        GL3wP8rv3BDDRPb5dAsvrBvHJgjJ9UhEJ3ZuPrkbL2D64+PdQP7eG26+ziCdHl0n
        SLErXbBzUFl+4OF0kCu4A9QlKRFwOXjM8SGhheJGL1nJ
        -----END CERTIFICATE-----
        """
}
