import AssayCore
import AssayKit
import AssayYAML
import Testing

@testable import AssayFleetEngine

private let driver = "roles: {driver: {vehicle: {claim: van}}}"
private let callback = FleetEngineScene.callback

/// Sections that decode, the path of what is wrong, and words about it.
private let mistakes: [(String, [ConfigurationError.Component], String)] = [
    ("roles: {}", ["roles"], "expected a role"),
    ("provider_id: a/b\n\(driver)", ["provider_id"], "Google Cloud project"),
    ("provider_id: \"\"\n\(driver)", ["provider_id"], "Google Cloud project"),
    ("audience: \"a b\"\n\(driver)", ["audience"], "one word"), ("audience: \"\"\n\(driver)", ["audience"], "one word"),
    ("token_ttl: 9m59s\n\(driver)", ["token_ttl"], "10m to 1h"),
    ("token_ttl: 61m\n\(driver)", ["token_ttl"], "10m to 1h"),
    ("fleet_reader_role: fleet_reader\n\(driver)", ["fleet_reader_role"], "no rule for `fleet_reader`"),
    ("\(callback)\n\(driver)", ["callback"], "never asked"),
    (
        "callback: {url: \"https://example.com/\", token: \"env:ABSENT\"}\nroles: {driver: {callback: true}}",
        ["callback", "token"], "not set"
    ),
    (
        "callback: {url: \"https://example.com/\", token: \"env:NO_TOKEN\"}\nroles: {driver: {callback: true}}",
        ["callback", "token"], "no bearer token"
    ),
    (
        "callback: {url: \"https://example.com/\", token: \"env:CALLBACK\", time_limit: 6s}\n"
            + "roles: {driver: {callback: true}}", ["callback", "time_limit"], "1s to 5s"
    ),
    ("roles: {driver: {callback: true}}", ["roles", "driver", "callback"], "expected `callback` in the section"),
    ("roles: {driver: {}}", ["roles", "driver"], "expected `vehicle` or `callback: true`"),
    ("roles: {driver: {actor: {claim: a, values: [b]}}}", ["roles", "driver"], "expected `vehicle` or"),
    ("roles: {driver: {wildcard: true}}", ["roles", "driver"], "expected `vehicle` or"),
    ("roles: {driver: {vehicle: {}}}", ["roles", "driver", "vehicle"], "expected one of `claim` and `any: true`"),
    ("roles: {driver: {vehicle: {any: false}}}", ["roles", "driver", "vehicle"], "expected one of"),
    ("roles: {driver: {vehicle: {claim: a, any: true}}}", ["roles", "driver", "vehicle"], "expected one of"),
    ("roles: {driver: {vehicle: {any: true}}}", ["roles", "driver", "vehicle"], "every caller may request any"),
    ("roles: {driver: {vehicle: {claim: \"\"}}}", ["roles", "driver", "vehicle", "claim"], "path of a claim"),
    (
        "roles: {driver: {vehicle: {claim: a}, actor: {claim: a, values: []}}}",
        ["roles", "driver", "actor", "values"],
        "expected a value"
    ),
    (
        "roles: {driver: {vehicle: {claim: a}, actor: {claim: \"\", values: [b]}}}",
        ["roles", "driver", "actor", "claim"], "path of a claim"
    ),
    ("roles: {server: {}}", ["roles", "server"], "whole fleet"),
    ("roles: {fleet_reader: {callback: false}}", ["roles", "fleet_reader"], "whole fleet"),
    (
        "roles: {driver: {vehicle: {claim: a}, account: \"env:ABSENT\"}}", ["roles", "driver", "account"], "is not set"
    ),
    (
        "roles: {driver: {vehicle: {claim: a}, account: \"env:NO_FILE\"}}", ["roles", "driver", "account"],
        "env:NO_FILE: the key file has no"
    ),
]

/// Sections that do not decode.
private let unreadable: [(String, String)] = [
    ("account: {}", "account"), (driver + "\nrole: x", "unknown key `role`"), ("roles: {pilot: {}}", "pilot"),
    ("token_ttl: 60m", "missing key `roles`"), ("roles: {driver: {vehicles: {claim: a}}}", "did you mean `vehicle`"),
    // What means nothing for a role is no key of it.
    ("roles: {driver: {trip: {claim: a}}}", "unknown key `trip`"),
    ("roles: {server: {vehicle: {claim: a}}}", "unknown key `vehicle`"),
    ("roles: {delivery_server: {task: {claim: a}}}", "unknown key `task`"),
    ("roles: {fleet_reader: {wildcard: true}}", "unknown key `wildcard`"),
    ("roles: {untrusted_delivery_driver: {task: {claim: a}}}", "unknown key `task`"),
    ("account: '{\"type\": \"service_account\"}'\n\(driver)", "refer to it as env:NAME"),
    ("fleet_reader_role: driver\n\(driver)", "delivery_fleet_reader"),
    ("callback: {url: \"http://example.com/\", token: \"env:A\"}\n\(driver)", "expected a URL"),
]

@Suite("The section fleet_engine")
struct FleetEngineConfigurationTests {
    @Test("What is wrong is said at its place", arguments: mistakes)
    func located(_ section: String, _ path: [ConfigurationError.Component], _ message: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try FleetEngineScene(section) }
        #expect(error.all.contains { $0.path == path && $0.message.contains(message) }, "\(error.all)")
    }

    @Test("Where nobody is known, a rule that needs to know somebody is wrong at its place, and no other is")
    func nobodyKnown() throws {
        let section = """
            \(callback)
            roles:
              driver: {vehicle: {claim: van}}
              consumer: {trip: {any: true}, actor: {claim: groups, values: [riders]}}
              delivery_consumer: {tracking: {any: true}, callback: true}
            """
        let error = try #require(throws: ConfigurationError.self) {
            try FleetEngineScene(section, knowsActors: false)
        }
        #expect(error.all.map(\.path) == [["roles", "driver", "vehicle", "claim"], ["roles", "consumer", "actor"]])
        #expect(error.all.allSatisfy { $0.message.contains("expected `actors` in the section") }, "\(error.all)")
        _ = try FleetEngineScene(section)
    }

    @Test("What cannot be read is said, too", arguments: unreadable)
    func notDecoded(_ section: String, _ message: String) throws {
        let error = try #require(throws: Diagnostics.self) { try FleetEngineScene(section, account: nil) }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test("Everything that is wrong is said at once")
    func all() throws {
        let section = """
            token_ttl: 2h
            audience: ""
            roles: {driver: {}, server: {}}
            """
        let error = try #require(throws: ConfigurationError.self) { try FleetEngineScene(section, account: nil) }
        #expect(
            Set(error.all.map(\.path)) == [["token_ttl"], ["audience"], ["roles", "driver"], ["roles", "server"]])
    }

    @Test("A role without an account needs the section's")
    func account() throws {
        let error = try #require(throws: ConfigurationError.self) { try FleetEngineScene(driver, account: nil) }
        #expect(error.path == ["roles", "driver"])
        #expect(error.message.contains("account"))
        _ = try FleetEngineScene("roles: {driver: {vehicle: {claim: a}, account: \"env:SERVER\"}}", account: nil)
    }

    @Test("Errors about key files show nothing of them")
    func secrets() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try FleetEngineScene(driver, account: "env:CALLBACK")
        }
        #expect(error.all.allSatisfy { !$0.message.contains("0123456789") })
        #expect(error.path == ["account"])
    }
}
