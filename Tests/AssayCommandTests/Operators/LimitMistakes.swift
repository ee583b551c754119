extension OperatorMistake {
    /// Values outside of what is allowed.
    static let limits: [OperatorMistake] = [
        OperatorMistake(
            "Durations are outside of their range or no durations",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        token_ttl: 8d
                        rate_limit: {requests: 0, interval: 90, burst: -1}
                        providers: {app_attest: {token_ttl: 5m}, debug: {token_ttl: 1 hour}}
                """),
            finds: [
                "apps.yaml:7:20: projects[0].apps[0].token_ttl: expected a duration from 30m to 7d, in whole seconds",
                "apps.yaml:8:32: projects[0].apps[0].rate_limit.requests: expected a number from 1 to 1000000, found `0`",
                "apps.yaml:8:45: projects[0].apps[0].rate_limit.interval: expected a duration such as 1h, found `90` (add a unit, such as 90s)",
                "apps.yaml:8:56: projects[0].apps[0].rate_limit.burst: expected a number from 1 to 1000000, found `-1`",
                "apps.yaml:9:45: projects[0].apps[0].providers.app_attest.token_ttl: expected a duration from 30m to 7d, in whole seconds",
                "apps.yaml:9:69: projects[0].apps[0].providers.debug.token_ttl: expected a duration such as 1h, found `1 hour` (did you mean `1h`?)",
            ]),
        OperatorMistake(
            "Numbers are texts, and switches are words",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: "1234567890x"
                    id: example-project
                    verification: {accept_development: yes}
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        rate_limit: {requests: "600", interval: 1m}
                        providers: {debug: {managed: {limit: twenty}}}
                """),
            finds: [
                "apps.yaml:2:13: projects[0].number: expected a project number: decimal digits without leading zeros",
                "apps.yaml:4:40: projects[0].verification.accept_development: expected true or false, found `yes` (write it as true, without quotes)",
                "apps.yaml:8:32: projects[0].apps[0].rate_limit.requests: expected a whole number, found the string `600` (write it without quotes)",
                "apps.yaml:9:46: projects[0].apps[0].providers.debug.managed.limit: expected a whole number, found `twenty`",
            ]),
        OperatorMistake(
            "A service's replay protection is above its enforcement",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    services:
                      orders.example.com: {enforcement: UNENFORCED, replay_protection: ENFORCED}
                      Orders: {enforcement: OFF}
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                #"apps.yaml:5:53: projects[0].services["orders.example.com"].replay_protection: replay protection cannot be ENFORCED where enforcement is UNENFORCED"#
            ]),
        OperatorMistake(
            "Names of Apple are malformed",
            OperatorMistake.File(
                "apps.yaml",
                """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE, bundle_id: com example app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:6:26: projects[0].apps[0].apple.team_id: expected an Apple team ID: ten upper-case letters and digits",
                "apps.yaml:6:44: projects[0].apps[0].apple.bundle_id: expected a bundle ID such as com.example.app",
            ]),
        OperatorMistake(
            "Routes of a backend cannot match",
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
                        backends:
                          orders:
                            routes:
                              - {path: payments, methods: [post], tokens: {limited_use: true}}
                              - {path: /a*b, tokens: {max_age: 0s}}
                """),
            finds: [
                "apps.yaml:12:13: projects[0].consumers.custom_backend.backends.orders.routes: `original_request` must say where the proxy puts its client's request: x-original, x-forwarded or transport",
                "apps.yaml:13:24: projects[0].consumers.custom_backend.backends.orders.routes[0].path: expected a path such as /payments/*, /payments/** or /payments, in ASCII, without a query, `//`, `.`, `..`, and what some backends read otherwise, with `*` or `/**` at its end only",
                "apps.yaml:13:44: projects[0].consumers.custom_backend.backends.orders.routes[0].methods[0]: expected an HTTP method in capitals, such as POST (did you mean `POST`?)",
                "apps.yaml:14:24: projects[0].consumers.custom_backend.backends.orders.routes[1].path: expected a path such as /payments/*, /payments/** or /payments, in ASCII, without a query, `//`, `.`, `..`, and what some backends read otherwise, with `*` or `/**` at its end only",
                "apps.yaml:14:48: projects[0].consumers.custom_backend.backends.orders.routes[1].tokens.max_age: expected a duration above zero",
            ]),
        OperatorMistake(
            "The version of the format is a later one",
            OperatorMistake.File(
                "apps.yaml",
                """
                version: 2
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers: {app_attest: {}}
                """),
            finds: [
                "apps.yaml:1:10: version: unknown version 2 of the policy format; this program reads version 1"
            ]),
    ]
}
