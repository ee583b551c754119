import AssayAppAttest
import AssayCore
import AssayCustomBackend
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Foundation
import Testing

/// The backend `orders`, what is wrong with it, and the key at which it is said.
private let badBackends: [(String, String, String)] = [
    ("{token: {}}", "unknown key", "token"),
    ("{tokens: {limited: true}}", "unknown key", "tokens.limited"),
    ("{tokens: {apps: [\"1:1:ios:1\"]}}", "unknown app or OAuth client `1:1:ios:1`", "tokens.apps[0]"),
    ("{tokens: {apps: []}}", "without an app every token is refused", "tokens.apps"),
    ("{tokens: {providers: []}}", "without a provider every token is refused", "tokens.providers"),
    ("{tokens: {providers: [debgu]}}", "unknown provider `debgu`", "tokens.providers[0]"),
    ("{tokens: {providers: [debug, app_attst]}}", "unknown provider `app_attst`", "tokens.providers[1]"),
    ("{other_methods: []}", "without a method", "other_methods"),
    ("{other_methods: [purge]}", "in capitals", "other_methods[0]"),
    ("{other_methods: [PURGE, POST]}", "`POST` is known without being listed", "other_methods[1]"),
    ("{tokens: {max_age: 0s}}", "expected a duration above zero", "tokens.max_age"),
    ("{tokens: {enforcement: ON}}", "ENFORCED", "tokens.enforcement"),
    ("{original_request: x-orignal}", "x-original", "original_request"),
    ("{routes: [{path: /a, tokens: {}}]}", "`original_request` must say", "routes"),
    ("{success_status: 199}", "expected a status from 200 to 299", "success_status"),
    ("{success_status: 300}", "expected a status from 200 to 299", "success_status"),
    ("{success_status: ok}", "expected", "success_status"),
]

/// One route of a backend, what is wrong with it, and the key at which it is said.
private let badRoutes: [(String, String, String)] = [
    ("{tokens: {}}", "missing key", ".path"), ("{path: /a}", "missing key", ".tokens"),
    ("{path: /a, tokens: {}, method: GET}", "unknown key", ".method"),
    ("{path: a, tokens: {}}", "expected a path", ".path"), ("{path: \"\", tokens: {}}", "expected a path", ".path"),
    ("{path: \"*\", tokens: {}}", "expected a path", ".path"), ("{path: //a, tokens: {}}", "expected a path", ".path"),
    ("{path: /a//b, tokens: {}}", "expected a path", ".path"),
    ("{path: /a/../b, tokens: {}}", "expected a path", ".path"),
    ("{path: /a/./*, tokens: {}}", "expected a path", ".path"),
    ("{path: /*/a, tokens: {}}", "expected a path", ".path"), ("{path: /a**, tokens: {}}", "expected a path", ".path"),
    ("{path: /a;b, tokens: {}}", "expected a path", ".path"),
    ("{path: /a/**/b, tokens: {}}", "expected a path", ".path"),
    ("{path: /a/***, tokens: {}}", "expected a path", ".path"),
    ("{path: //**, tokens: {}}", "expected a path", ".path"),
    ("{path: /a//**, tokens: {}}", "expected a path", ".path"),
    ("{path: /a./**, tokens: {}}", "expected a path", ".path"),
    ("{path: a/**, tokens: {}}", "expected a path", ".path"), ("{path: /**/, tokens: {}}", "expected a path", ".path"),
    // No request is known to mean such a path.
    ("{path: /caf%C3%A9, tokens: {}}", "in ASCII", ".path"), ("{path: /café, tokens: {}}", "in ASCII", ".path"),
    ("{path: /a., tokens: {}}", "expected a path", ".path"),
    ("{path: \"/a::$DATA\", tokens: {}}", "expected a path", ".path"),
    ("{path: /PROGRA~1/*, tokens: {}}", "expected a path", ".path"),
    ("{path: /%c0%ae, tokens: {}}", "expected a path", ".path"),
    ("{path: /a%2fb, tokens: {}}", "expected a path", ".path"),
    ("{path: /a b, tokens: {}}", "expected a path", ".path"),
    ("{path: \"/a?b\", tokens: {}}", "expected a path", ".path"),
    ("{path: \"/a#b\", tokens: {}}", "expected a path", ".path"),
    ("{path: /a, methods: [post], tokens: {}}", "in capitals", ".methods[0]"),
    ("{path: /a, methods: [GET, \"\"], tokens: {}}", "in capitals", ".methods[1]"),
    ("{path: /a, methods: [DELETE, PSOT], tokens: {}}", "did you mean `POST`?", ".methods[1]"),
    ("{path: /a, methods: [get], tokens: {}}", "did you mean `GET`?", ".methods[0]"),
    ("{path: /a, methods: [PURGE], tokens: {}}", "must be listed in the backend's `other_methods`", ".methods[0]"),
    ("{path: /a, tokens: {providers: [app_attst]}}", "unknown provider `app_attst`", ".tokens.providers[0]"),
    ("{path: /a, methods: [], tokens: {}}", "without a method", ".methods"),
    ("{path: /a, tokens: {apps: [\"1:1:ios:1\"]}}", "unknown app", ".tokens.apps[0]"),
    ("{path: /a, tokens: {max_age: 0s}}", "above zero", ".tokens.max_age"),
    ("{path: /a, tokens: {limited: true}}", "unknown key", ".tokens.limited"),
]

@Suite("Backends in policies")
struct BackendPolicyTests {
    private func problems(_ section: String) throws -> [String] {
        let registry = try VerifyService.registry()
        do throws(Diagnostics) {
            try PolicySet.read([PolicyFile(name: "test.yaml", text: VerifyService.policy(section))])
                .check(registry, host: VerifyService.host(ManualClock()))
            return []
        } catch {
            return error.all.map { "\($0)" }
        }
    }

    private func expect(_ section: String, _ message: String, at key: String) throws {
        let problems = try problems(section)
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.hasPrefix("test.yaml:") == true)
        #expect(
            problems.first?.contains("projects[0].consumers.custom_backend.\(key): ") == true, "\(problems)")
        #expect(problems.first?.contains(message) == true, "\(problems)")
    }

    @Test("What is wrong with a backend is said where it stands", arguments: badBackends)
    func backend(_ backend: String, _ message: String, _ key: String) throws {
        try expect("backends: {orders: \(backend)}", message, at: "backends.orders.\(key)")
    }

    @Test("What is wrong with a route is said where it stands", arguments: badRoutes)
    func route(_ route: String, _ message: String, _ key: String) throws {
        let good = "{path: /good/*, methods: [GET], tokens: {}}"
        try expect(
            "backends:\n  orders:\n    original_request: x-original\n    routes:\n      - \(good)\n      - \(route)",
            message, at: "backends.orders.routes[1]\(key)")
    }

    @Test("A section without a backend is refused")
    func none() throws {
        try expect("backends: {}", "without a backend nothing is asked for", at: "backends")
        #expect(try problems("tokens: {}").count == 1)
    }

    @Test(
        "A name that no URL could have is refused",
        arguments: ["a b", "a/b", "", "é", String(repeating: "a", count: 65)])
    func name(_ name: String) throws {
        let problems = try problems("backends: {orders: {}, \"\(name)\": {}}")
        #expect(problems.count == 1)
        #expect(problems.first?.contains("a backend's name is 1 to 64 letters") == true, "\(problems)")
    }

    @Test("Too many routes are refused")
    func tooMany() throws {
        func section(_ count: Int) -> String {
            let routes = (0..<count).map { "{path: /a\($0), tokens: {}}" }.joined(separator: ", ")
            return "backends: {orders: {original_request: x-original, routes: [\(routes)]}}"
        }
        #expect(try problems(section(256)).isEmpty)
        try expect(section(257), "at most 256 routes", at: "backends.orders.routes")
    }

    @Test("All mistakes are said at once")
    func together() throws {
        let problems = try problems(
            """
            backends:
              a: {tokens: {apps: []}, routes: [{path: x, methods: [get], tokens: {max_age: 0s}}]}
              b: {tokens: {providers: []}}
            """)
        #expect(problems.count == 6, "\(problems)")
    }

    /// Routes in their order, and where and in which words one of them is said to be of no use.
    private static let hiddenRoutes: [([String], String, String)] = [
        (
            ["{path: /*, tokens: {}}", "{path: /pay/*, tokens: {}}"], "[1].path",
            "`/*` at test.yaml:15:17 covers all of it"
        ),
        (["{path: /**, tokens: {}}", "{path: /pay, methods: [GET], tokens: {}}"], "[1].path", "`/**` at"),
        (["{path: /pay/**, tokens: {}}", "{path: /pay/card/*, tokens: {}}"], "[1].path", "`/pay/**` at"),
        (["{path: /pay/**, tokens: {}}", "{path: /pay, tokens: {}}"], "[1].path", "`/pay/**` at"),
        (["{path: /pay/**, tokens: {}}", "{path: /pay.json, tokens: {}}"], "[1].path", "`/pay/**` at"),
        (["{path: /pay*, tokens: {}}", "{path: /pay/**, tokens: {}}"], "[1].path", "`/pay*` at"),
        (["{path: /a, tokens: {}}", "{path: /b, tokens: {}}", "{path: /a, tokens: {}}"], "[2].path", "`/a` at"),
        (
            ["{path: /*, methods: [GET, POST], tokens: {}}", "{path: /a, methods: [POST], tokens: {}}"], "[1].path",
            "no request meets this route"
        ),
        // What two routes cover together.
        (
            [
                "{path: /*, methods: [GET], tokens: {}}", "{path: /a*, methods: [POST], tokens: {}}",
                "{path: /a/b, methods: [POST, GET], tokens: {}}",
            ], "[2].path", "`/a*` at test.yaml:16:17"
        ),
        (
            ["{path: /*, methods: [GET], tokens: {}}", "{path: /a, methods: [HEAD], tokens: {}}"], "[1].path",
            "covers all"
        ),
        (
            ["{path: /*, methods: [GET], tokens: {}}", "{path: /a, methods: [POST, GET], tokens: {}}"],
            "[1].methods[1]",
            "no request with `GET` meets this route"
        ),
        // Every request for it could be meant for the first.
        (["{path: /Pay/*, tokens: {}}", "{path: /pay/card, tokens: {}}"], "[1].path", "only in letter case"),
        (["{path: /pay, tokens: {}}", "{path: /pay/, tokens: {}}"], "[1].path", "the slash at its end"),
    ]

    private func routes(_ routes: [String]) -> String {
        "backends:\n  orders:\n    original_request: x-original\n    other_methods: [PURGE]\n    routes:\n"
            + routes.map { "      - \($0)" }.joined(separator: "\n")
    }

    @Test("A route behind one that covers it is refused, and the message leads to that one", arguments: hiddenRoutes)
    func hidden(_ list: [String], _ key: String, _ words: String) throws {
        try expect(routes(list), words, at: "backends.orders.routes\(key)")
    }

    @Test(
        "Routes that some requests meet are taken",
        arguments: [
            ["{path: /pay/*, tokens: {}}", "{path: /*, tokens: {}}"],
            ["{path: /*, methods: [GET], tokens: {}}", "{path: /pay/*, tokens: {}}"],
            ["{path: /*, methods: [GET], tokens: {}}", "{path: /pay/*, methods: [POST], tokens: {}}"],
            ["{path: /*, methods: [HEAD], tokens: {}}", "{path: /pay/*, methods: [GET], tokens: {}}"],
            ["{path: /pay, tokens: {}}", "{path: /pay/*, tokens: {}}", "{path: /pay/**, tokens: {}}"],
            [
                "{path: /pay/**, tokens: {}}", "{path: /pay*, tokens: {}}",
                "{path: /paying, methods: [PURGE], tokens: {}}",
            ]
            .dropLast(),
            ["{path: /bank/**, tokens: {}}", "{path: /bank-2/**, tokens: {}}", "{path: /banking, tokens: {}}"],
            ["{path: /a, methods: [PURGE, PROPFIND], tokens: {}}", "{path: /a, methods: [GET], tokens: {}}"],
        ] as [[String]])
    func met(_ list: [String]) throws {
        #expect(try problems(routes(list)).isEmpty)
    }

    @Test("A list of providers of which no app has one is questionable, at its line; one of several is enough")
    func unusedProviders() throws {
        func warnings(_ section: String) throws -> [String] {
            let registry = try Registry([
                .provider(DebugProvider.self), .provider(AppAttestProvider.self),
                .consumer(CustomBackendConsumer.self),
            ])
            return try PolicySet.read([PolicyFile(name: "test.yaml", text: VerifyService.policy(section))])
                .check(registry, host: VerifyService.host(ManualClock()))?.all.map(\.description) ?? []
        }
        for providers in ["debug", "app_attest, debug", "mint"] {
            #expect(try warnings("backends: {orders: {tokens: {providers: [\(providers)]}}}").isEmpty)
        }
        for section in [
            "backends: {orders: {tokens: {providers: [app_attest]}}}",
            "tokens: {providers: [app_attest]}\nbackends: {orders: {}}",
            routes(["{path: /a, tokens: {providers: [app_attest]}}"]),
        ] {
            let found = try warnings(section)
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix("test.yaml:") == true)
            #expect(found.first?.contains("providers: no app of the project has any of these") == true, "\(found)")
            #expect(found.first?.contains("its apps have: `debug`, `mint`") == true, "\(found)")
        }
    }
}
