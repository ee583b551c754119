extension OperatorMistake {
    /// Secrets and addresses of servers.
    static let secrets: [OperatorMistake] = [
        OperatorMistake(
            "Secrets are written inline",
            OperatorMistake.File(
                "apps.yaml",
                """
                callers:
                  administrator: {token: s3cr3t-bearer-token, permissions: [admin]}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          debug: {tokens: [{name: ci, token: 2f7a8c1e-5b0d-4a53-9f3a-1d2e3f405162}]}
                          device_check: {key_id: ABC123DEFG, private_key: "-----BEGIN PRIVATE KEY-----"}
                """),
            finds: [
                "apps.yaml:2:26: callers.administrator.token: a policy must not contain a secret: refer to it as env:NAME or file:PATH",
                "apps.yaml:10:46: projects[0].apps[0].providers.debug.tokens[0].token: a policy must not contain a secret: refer to it as env:NAME or file:PATH",
                "apps.yaml:11:59: projects[0].apps[0].providers.device_check.private_key: a policy must not contain a secret: refer to it as env:NAME or file:PATH",
            ]),
        OperatorMistake(
            "A key file is missing, and a variable too",
            OperatorMistake.File(
                "apps.yaml",
                """
                callers:
                  administrator: {token: env:ASSAY_NO_SUCH_TOKEN, permissions: [admin]}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          device_check: {key_id: ABC123DEFG, private_key: "file:/run/secrets/no-such-file.p8"}
                """),
            finds: [
                "apps.yaml:2:26: callers.administrator.token: env:ASSAY_NO_SUCH_TOKEN is not set; with `optional: true` the caller would be left out",
                "apps.yaml:10:59: projects[0].apps[0].providers.device_check.private_key: cannot open /run/secrets/no-such-file.p8: No such file or directory",
            ]),
        OperatorMistake(
            "A hash is cut off, and a reference has no kind",
            OperatorMistake.File(
                "apps.yaml",
                """
                callers:
                  administrator: {sha256: 6b2b3a4b5d0f, permissions: [admin]}
                  backend: {token: /run/secrets/token, permissions: [appCheckTokens.verify]}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:2:27: callers.administrator.sha256: expected 64 hexadecimal digits: the SHA-256 of the secret, not the secret itself",
                "apps.yaml:3:20: callers.backend.token: a policy must not contain a secret: refer to it as env:NAME or file:PATH",
            ]),
        OperatorMistake(
            "A caller has two secrets, and one has none",
            OperatorMistake.File(
                "apps.yaml",
                """
                callers:
                  administrator: {sha256: 6b2b3a4b5d0f3b4a6d7c8e9f00112233445566778899aabbccddeeff00112233, token: "env:ASSAY_NO_SUCH_TOKEN", permissions: [admin]}
                  backend: {permissions: [appCheckTokens.verify]}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:2:18: callers.administrator: expected one of `sha256`, `token`, `tokens` and `jwt`, and only one",
                "apps.yaml:3:12: callers.backend: expected one of `sha256`, `token`, `tokens` and `jwt`, and only one",
            ]),
        OperatorMistake(
            "URLs are no URLs of servers",
            OperatorMistake.File(
                "apps.yaml",
                """
                issuers:
                  login: {issuer: login.example.com, audiences: [https://assay.example.com], jwks: http://login.example.com/jwks}
                projects:
                  - number: 1234567890
                    id: example-project
                    issuer: firebaseappcheck.googleapis.com
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                    consumers:
                      custom_backend: {actors: [login], backends: {orders: {}}}
                """),
            finds: [
                "apps.yaml:2:84: projects[0].consumers.custom_backend.actors[0].jwks: expected an https URL of a JWKS document, or file:PATH or env:NAME",
                "apps.yaml:6:13: projects[0].issuer: expected an https URL that ends in a slash; the project's number follows it",
            ]),
    ]
}
