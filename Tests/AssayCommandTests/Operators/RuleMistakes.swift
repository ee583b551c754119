extension OperatorMistake {
    /// Rules that make no sense.
    static let rules: [OperatorMistake] = [
        OperatorMistake(
            "A fact is unknown",
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
                        rules:
                          - {name: old, when: {osversion: {below: "26.2"}}, then: refuse}
                          - {name: bits, when: {device_bit0: true}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:32: projects[0].apps[0].rules[0].when.osversion: no provider of the app tells the fact `osversion` (did you mean `os_version`?)",
                "apps.yaml:10:33: projects[0].apps[0].rules[1].when.device_bit0: no provider of the app tells the fact `device_bit0` (known here: `bundle_version`, `environment`, `key_age`, `key_id`, `os_version`, `provider`, `receipt`, `risk_metric`, `risk_metric_age`, `unknown_members`, `validation_category`)",
            ]),
        OperatorMistake(
            "A value is not of the fact's type",
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
                        rules:
                          - {name: old, when: {os_version: {below: new}}, then: refuse}
                          - {name: age, when: {key_age: {below: 1 hour}}, then: refuse}
                          - {name: risk, when: {risk_metric: {above: high}}, then: refuse}
                          - {name: test, when: {environment: sandbox}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:52: projects[0].apps[0].rules[0].when.os_version.below: `os_version` is a version such as 26.2",
                "apps.yaml:10:49: projects[0].apps[0].rules[1].when.key_age.below: expected a duration such as 1h, found `1 hour` (did you mean `1h`?)",
                "apps.yaml:11:54: projects[0].apps[0].rules[2].when.risk_metric.above: expected a whole number, found `high`",
                "apps.yaml:12:46: projects[0].apps[0].rules[3].when.environment: `environment` is one of `development`, `production`",
            ]),
        OperatorMistake(
            "A comparison needs an order that the fact has not",
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
                        rules:
                          - {name: test, when: {environment: {below: production}}, then: refuse}
                          - {name: key, when: {key_id: {at_least: a}}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:54: projects[0].apps[0].rules[0].when.environment.below: `below` needs an order, and `environment` is one of `development`, `production`",
                "apps.yaml:10:51: projects[0].apps[0].rules[1].when.key_id.at_least: `at_least` needs an order, and `key_id` is a digest of 16 to 128 characters in hexadecimal or Base 64",
            ]),
        OperatorMistake(
            "A comparison is unknown, and one is empty",
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
                        rules:
                          - {name: old, when: {os_version: {less_than: "26"}}, then: refuse}
                          - {name: none, when: {os_version: {}}, then: refuse}
                          - {name: maybe, when: {risk_metric: {known: maybe}}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:45: projects[0].apps[0].rules[0].when.os_version.less_than: unknown key `less_than` (known here: `above`, `at_least`, `at_most`, `below`, `in`, `is`, `known`, `not`, `not_in`)",
                "apps.yaml:10:45: projects[0].apps[0].rules[1].when.os_version: expected a comparison such as {below: 5}",
                "apps.yaml:11:55: projects[0].apps[0].rules[2].when.risk_metric.known: expected true or false, found `maybe`",
            ]),
        OperatorMistake(
            "A rule lacks its name or what it does",
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
                        rules:
                          - {when: {environment: production}, then: refuse}
                          - {name: mark, when: {environment: production}}
                          - {name: x, when: {environment: production}, then: deny}
                          - {name: x, when: {environment: production}, then: refuse, claim: true}
                """),
            finds: [
                "apps.yaml:9:13: projects[0].apps[0].rules[0].name: missing key `name`",
                "apps.yaml:10:13: projects[0].apps[0].rules[1].then: missing key `then`",
                "apps.yaml:11:62: projects[0].apps[0].rules[2].then: expected one of `allow`, `refuse`, `mark`, found `deny`",
                "apps.yaml:12:70: projects[0].apps[0].rules[3].claim: has no effect with `refuse`: only a mark is named in tokens",
            ]),
        OperatorMistake(
            "A rule has several mistakes at once",
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
                        rules:
                          - name: old ios
                            when: {osversion: {below: "26.2"}, risk_metric: {above: high, belw: 3}}
                            then: refsue
                            enforcement: shadw
                            claims: true
                """),
            finds: [
                "apps.yaml:9:19: projects[0].apps[0].rules[0].name: a rule's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`",
                "apps.yaml:10:20: projects[0].apps[0].rules[0].when.osversion: no provider of the app tells the fact `osversion` (did you mean `os_version`?)",
                "apps.yaml:10:69: projects[0].apps[0].rules[0].when.risk_metric.above: expected a whole number, found `high`",
                "apps.yaml:10:75: projects[0].apps[0].rules[0].when.risk_metric.belw: unknown key `belw` (did you mean `below`?)",
                "apps.yaml:11:19: projects[0].apps[0].rules[0].then: expected one of `allow`, `refuse`, `mark`, found `refsue` (did you mean `refuse`?)",
                "apps.yaml:12:26: projects[0].apps[0].rules[0].enforcement: expected one of `enforced`, `shadow`, found `shadw` (did you mean `shadow`?)",
                "apps.yaml:13:13: projects[0].apps[0].rules[0].claims: unknown key `claims` (did you mean `claim`?)",
            ]),
        OperatorMistake(
            "Rules never match, or come after a wider one",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}, debug: {managed: {}}}
                        rules:
                          - {name: risk, when: {risk_metric: {above: 5, below: 3}}, then: refuse}
                          - {name: young, when: {key_age: {below: 2h}}, then: mark}
                          - {name: very-young, when: {key_age: {below: 1h}, environment: production}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:33: warning: projects[0].apps[0].rules[0].when.risk_metric: the conditions on `risk_metric` contradict each other (the rule `risk` never matches)",
                "apps.yaml:11:13: warning: projects[0].apps[0].rules[2]: no evidence comes to this rule: `young` before it matches all that it matches [apps.yaml:10:13: the earlier rule]",
            ]),
        OperatorMistake(
            "A bit of DeviceCheck is compared with a text",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {debug: {managed: {}}}
                        rules:
                          - {name: bit, when: {device_bit0: yes}, then: refuse}
                """),
            finds: [
                "apps.yaml:9:32: projects[0].apps[0].rules[0].when.device_bit0: no provider of the app tells the fact `device_bit0` (known here: `debug_token`, `debug_token_id`, `provider`)"
            ]),
    ]
}
