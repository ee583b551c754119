extension OperatorMistake {
    /// Names that name nothing.
    static let references: [OperatorMistake] = [
        OperatorMistake(
            "A profile is unknown",
            OperatorMistake.File(
                "apps.yaml",
                """
                profiles:
                  ios:
                    apple: {team_id: ABCDE12345}
                    providers: {app_attest: {}}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - {id: "1:1234567890:ios:321abc456def7890", profile: iso, apple: {bundle_id: com.example.app}}
                """),
            finds: [
                "apps.yaml:9:60: projects[0].apps[0].profile: unknown profile `iso` (did you mean `ios`?)"
            ]),
        OperatorMistake(
            "Profiles extend each other in a circle",
            OperatorMistake.File(
                "apps.yaml",
                """
                profiles:
                  base: {extends: test}
                  test: {extends: ios}
                  ios:
                    extends: base
                    apple: {team_id: ABCDE12345}
                    providers: {app_attest: {}}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - {id: "1:1234567890:ios:321abc456def7890", profile: ios, apple: {bundle_id: com.example.app}}
                """),
            finds: [
                "apps.yaml:3:19: profiles.test.extends: the profile builds on itself: `ios`, then `base`, then `test`, then `ios`"
            ]),
        OperatorMistake(
            "A profile has the keys of one app only",
            OperatorMistake.File(
                "apps.yaml",
                """
                profiles:
                  ios:
                    id: "1:1234567890:ios:1"
                    name: all
                    apple: {team_id: ABCDE12345}
                    providers: {app_attest: {}}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - {id: "1:1234567890:ios:321abc456def7890", profile: ios, apple: {bundle_id: com.example.app}}
                """),
            finds: [
                "apps.yaml:3:5: profiles.ios.id: belongs to an app, not to a profile",
                "apps.yaml:4:5: profiles.ios.name: belongs to an app, not to a profile",
            ]),
        OperatorMistake(
            "A profile and a team are never used, and a team is misspelled",
            OperatorMistake.File(
                "apps.yaml",
                """
                apple_teams:
                  ABCDE1234: {device_check: {key_id: ABC123DEFG, private_key: "file:/run/secrets/none.p8"}}
                profiles:
                  android: {providers: {debug: {}}}
                  ios:
                    apple: {team_id: ABCDE12345}
                    providers: {app_attest: {}}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - {id: "1:1234567890:ios:321abc456def7890", profile: ios, apple: {bundle_id: com.example.app}}
                """),
            finds: [
                "apps.yaml:2:3: warning: apple_teams.ABCDE1234: no app names it, so it is not checked",
                "apps.yaml:4:3: warning: profiles.android: no app uses this profile, so it is not checked",
            ]),
        OperatorMistake(
            "An issuer is unknown",
            OperatorMistake.File(
                "apps.yaml",
                """
                issuers:
                  login: {issuer: https://login.example.com/, audiences: [https://assay.example.com], jwks: https://login.example.com/jwks}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                    consumers:
                      custom_backend: {actors: [logon], backends: {orders: {}}}
                """),
            finds: [
                "apps.yaml:2:3: warning: issuers.login: nothing uses this issuer, so it is not checked",
                "apps.yaml:11:33: projects[0].consumers.custom_backend.actors[0]: unknown issuer `logon` (did you mean `login`?)",
            ]),
        OperatorMistake(
            "An OAuth client is linked to an unknown app",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                    oauth_clients:
                      - {id: 1234567890-example.apps.googleusercontent.com, app: "1:1234567890:ios:321abc456def789"}
                """),
            finds: [
                "apps.yaml:9:66: projects[0].oauth_clients[0].app: unknown app `1:1234567890:ios:321abc456def789` in this project (did you mean `1:1234567890:ios:321abc456def7890`?)"
            ]),
        OperatorMistake(
            "A caller is for an unknown project and has an unknown permission",
            OperatorMistake.File(
                "apps.yaml",
                """
                callers:
                  backend:
                    sha256: 6b2b3a4b5d0f3b4a6d7c8e9f00112233445566778899aabbccddeeff00112233
                    permissions: [appCheckToken.verify]
                    projects: [example]
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:4:19: callers.backend.permissions[0]: unknown permission `appCheckToken.verify` (did you mean `appCheckTokens.verify`?)",
                "apps.yaml:5:16: callers.backend.projects[0]: unknown project `example` (known here: `1234567890`, `example-project`)",
            ]),
        OperatorMistake(
            "A demand names an unknown provider and an unknown app",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                    consumers:
                      custom_backend:
                        backends: {orders: {tokens: {providers: [app_atest], apps: ["1:1234567890:ios:1"]}}}
                """),
            finds: [
                "apps.yaml:10:50: projects[0].consumers.custom_backend.backends.orders.tokens.providers[0]: unknown provider `app_atest` (did you mean `app_attest`?)",
                "apps.yaml:10:69: projects[0].consumers.custom_backend.backends.orders.tokens.apps[0]: unknown app or OAuth client `1:1234567890:ios:1` in this project (known here: `1:1234567890:ios:321abc456def7890`)",
            ]),
    ]
}
