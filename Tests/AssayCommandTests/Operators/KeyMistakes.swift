extension OperatorMistake {
    /// Keys and projects that are misspelled, missing, doubled or out of place.
    static let keys: [OperatorMistake] = [
        OperatorMistake(
            "Keys of every level are misspelled",
            OperatorMistake.File(
                "apps.yaml",
                """
                project:
                  - number: 1
                tokens: {algoritm: RS256}
                projects:
                  - number: 1234567890
                    id: example-project
                    verificaton: {accept_development: true}
                    services: {firestore.googleapis.com: {enforcment: ENFORCED}}
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        appel: {team_id: ABCDE12345}
                        apple: {team: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {enviroments: [production], receipt: required}}
                        rate_limits: {requests: 600, interval: 1m}
                """),
            finds: [
                "apps.yaml:1:1: project: unknown key `project` (did you mean `projects`?)",
                "apps.yaml:3:10: tokens.algoritm: unknown key `algoritm` (did you mean `algorithm`?)",
                "apps.yaml:7:5: projects[0].verificaton: unknown key `verificaton` (did you mean `verification`?)",
                #"apps.yaml:8:43: projects[0].services["firestore.googleapis.com"].enforcment: unknown key `enforcment` (did you mean `enforcement`?)"#,
                "apps.yaml:11:9: projects[0].apps[0].appel: unknown key `appel` (did you mean `apple`?)",
                "apps.yaml:12:16: projects[0].apps[0].apple.team_id: missing key `team_id`",
                "apps.yaml:12:17: projects[0].apps[0].apple.team: unknown key `team` (known here: `app_id_prefix`, `bundle_id`, `team_id`)",
                "apps.yaml:13:34: projects[0].apps[0].providers.app_attest.enviroments: unknown key `enviroments` (did you mean `environments`?)",
                "apps.yaml:13:61: projects[0].apps[0].providers.app_attest.receipt: unknown key `receipt` (did you mean `receipts`?)",
                "apps.yaml:14:9: projects[0].apps[0].rate_limits: unknown key `rate_limits` (did you mean `rate_limit`?)",
            ]),
        OperatorMistake(
            "A provider and a consumer are unknown",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {appattest: {}, recaptcha: {}}
                    consumers: {custom_backends: {}, webhook: {}}
                """),
            finds: [
                "apps.yaml:7:21: projects[0].apps[0].providers.appattest: unknown provider `appattest` (did you mean `app_attest`?)",
                "apps.yaml:7:36: projects[0].apps[0].providers.recaptcha: unknown provider `recaptcha` (known here: `android_key`, `app_attest`, `custom`, `debug`, `device_check`, `hcaptcha`, `play_integrity`, `privacy_pass`, `recaptcha_enterprise`, `recaptcha_v3`, `turnstile`)",
                "apps.yaml:8:17: projects[0].consumers.custom_backends: unknown consumer `custom_backends` (did you mean `custom_backend`?)",
                "apps.yaml:8:38: projects[0].consumers.webhook: unknown consumer `webhook` (known here: `custom_backend`, `fleet_engine`, `oauth_client`, `private_token`)",
            ]),
        OperatorMistake(
            "Words of a choice are misspelled",
            OperatorMistake.File(
                "apps.yaml",
                """
                tokens: {algorithm: RSA256, rsa_bits: 1024}
                projects:
                  - number: 1234567890
                    id: example-project
                    stage: dev
                    services: {firestore.googleapis.com: {enforcement: enforced}}
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {receipts: require, environments: [prod]}}
                """),
            finds: [
                "apps.yaml:1:21: tokens.algorithm: expected one of `RS256`, `ES256`, found `RSA256` (did you mean `RS256`?)",
                "apps.yaml:1:39: tokens.rsa_bits: expected 2048 or 3072, found `1024`",
                "apps.yaml:5:12: projects[0].stage: expected one of `development`, `production`, found `dev`",
                #"apps.yaml:6:56: projects[0].services["firestore.googleapis.com"].enforcement: expected one of `OFF`, `UNENFORCED`, `ENFORCED`, found `enforced` (did you mean `ENFORCED`?)"#,
                "apps.yaml:10:44: projects[0].apps[0].providers.app_attest.receipts: expected one of `required`, `recorded`, `ignored`, found `require` (did you mean `required`?)",
                "apps.yaml:10:68: projects[0].apps[0].providers.app_attest.environments[0]: expected one of `development`, `production`, found `prod`",
            ]),
        OperatorMistake(
            "Needed keys are missing",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - id: example-project
                    apps:
                      - apple: {team_id: ABCDE12345}
                        providers: {device_check: {}}
                """),
            finds: [
                "apps.yaml:2:5: projects[0].number: missing key `number`",
                "apps.yaml:4:9: projects[0].apps[0].id: missing key `id`",
                "apps.yaml:4:16: projects[0].apps[0].apple.bundle_id: missing key `bundle_id`",
                "apps.yaml:5:35: projects[0].apps[0].providers.device_check.key_id: missing key `key_id`",
                "apps.yaml:5:35: projects[0].apps[0].providers.device_check.private_key: missing key `private_key`",
            ]),
        OperatorMistake(
            "A project addition has keys of a project",
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
                """),
            OperatorMistake.File(
                "more.yaml",
                """
                projects:
                  - project: example-project
                    stage: development
                    services: {firestore.googleapis.com: {enforcement: ENFORCED}}
                    apps:
                      - {id: "1:1234567890:ios:2", apple: {team_id: ABCDE12345, bundle_id: com.example.two}, providers: {app_attest: {}}}
                """),
            finds: [
                "more.yaml:3:5: projects[0].stage: belongs in the entry that defines the project",
                "more.yaml:4:5: projects[0].services: belongs in the entry that defines the project",
            ]),
        OperatorMistake(
            "A project addition names an unknown project",
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
                """),
            OperatorMistake.File(
                "more.yaml",
                """
                projects:
                  - project: exmaple-project
                    apps: []
                """),
            finds: [
                "more.yaml:2:14: projects[0].project: unknown project `exmaple-project` (did you mean `example-project`?)"
            ]),
        OperatorMistake(
            "An app is in two files",
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
                """),
            OperatorMistake.File(
                "more.yaml",
                """
                projects:
                  - project: example-project
                    apps:
                      - {id: "1:1234567890:ios:321abc456def7890", apple: {team_id: ABCDE12345, bundle_id: com.example.app}, providers: {app_attest: {}}}
                """),
            finds: [
                "more.yaml:4:14: projects[0].apps[0].id: the app `1:1234567890:ios:321abc456def7890` is defined twice [apps.yaml:5:13: first defined here]"
            ]),
        OperatorMistake(
            "A project is defined in two files",
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
                """),
            OperatorMistake.File(
                "more.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "more.yaml:2:13: projects[0].number: the project `1234567890` is defined twice [apps.yaml:2:13: first defined here]",
                "more.yaml:3:9: projects[0].id: the project `example-project` is defined twice [apps.yaml:3:9: first defined here]",
                "more.yaml:5:13: projects[0].apps[0].id: the app `1:1234567890:ios:321abc456def7890` is defined twice [apps.yaml:5:13: first defined here]",
            ]),
        OperatorMistake(
            "The keys for signing are in two files",
            OperatorMistake.File(
                "apps.yaml",
                """
                tokens: {algorithm: ES256}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            OperatorMistake.File(
                "tokens.yaml",
                """
                tokens: {algorithm: RS256}
                """),
            finds: [
                "tokens.yaml:1:9: tokens: the section `tokens` is in more than one place [apps.yaml:1:9: first here]"
            ]),
        OperatorMistake(
            "An app ID without quotes is read as a number",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1234567890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:5:13: projects[0].apps[0].id: expected an app ID such as 1:1234567890:ios:321abc456def7890"
            ]),
        OperatorMistake(
            "The ID is not one of an app of the project",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:9876543210:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:5:13: warning: projects[0].apps[0].id: the app ID is one of project 9876543210, but is in project 1234567890"
            ]),
    ]
}
