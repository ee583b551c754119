extension OperatorMistake {
    /// Mistakes in the layout of YAML.
    static let layout: [OperatorMistake] = [
        OperatorMistake(
            "A key is indented by one space too many",
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
            finds: [
                "apps.yaml:7:10: did not find expected key while parsing a block mapping (this line is indented by 9 spaces: indent it by 8, as in line 6) [apps.yaml:5:9: it starts here]"
            ]),
        OperatorMistake(
            "A key is indented by one space too few",
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
            finds: [
                "apps.yaml:7:8: did not find expected '-' indicator while parsing a block collection (this line is indented by 7 spaces: indent it by 8, as in line 6, or by 4, as in line 4) [apps.yaml:5:7: it starts here]"
            ]),
        OperatorMistake(
            "A line is indented with a tab",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                \tproviders: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:7:1: found character that cannot start any token while scanning for the next token (indent with spaces: YAML allows no tabs there)"
            ]),
        OperatorMistake(
            "An item has no dash",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  number: 1234567890
                  id: example-project
                  apps: []
                """),
            finds: [
                "apps.yaml:2:3: projects: expected a sequence, found a mapping"
            ]),
        OperatorMistake(
            "A colon has no space behind it",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        name:Example
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:8:9: could not find expected ':' while scanning a simple key (write a space after the colon in line 7) [apps.yaml:7:9: it starts here]"
            ]),
        OperatorMistake(
            "A bracket is not closed",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:7:18: did not find expected ',' or '}' while parsing a flow mapping [apps.yaml:6:16: it starts here]"
            ]),
        OperatorMistake(
            "A text with a colon has no quotes",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        name: Example: iOS
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:7:22: mapping values are not allowed in this context (a text that contains `: ` must be in quotes)"
            ]),
        OperatorMistake(
            "A key is there twice",
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
                        providers: {debug: {}}
                """),
            finds: [
                "apps.yaml:8:9: projects[0].apps[0].providers: duplicate key `providers` [apps.yaml:7:9: first defined here]"
            ]),
        OperatorMistake(
            "A section of a provider is a list",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: [app_attest, debug]
                """),
            finds: [
                "apps.yaml:7:20: projects[0].apps[0].providers: expected a mapping, found a sequence"
            ]),
        OperatorMistake(
            "The settings of a provider are beside it",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          app_attest:
                          environments: [production]
                """),
            finds: [
                "apps.yaml:9:11: projects[0].apps[0].providers.environments: unknown provider `environments` (known here: `android_key`, `app_attest`, `custom`, `debug`, `device_check`, `hcaptcha`, `play_integrity`, `privacy_pass`, `recaptcha_enterprise`, `recaptcha_v3`, `turnstile`)"
            ]),
        OperatorMistake(
            "A second document follows",
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
                ---
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:8:1: more than one document in the file (remove the `---`, or write each document into a file of its own) [apps.yaml:1:1: the first one starts here]"
            ]),
    ]
}
