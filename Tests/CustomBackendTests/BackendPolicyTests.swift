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
    ("{tokens: {apps: [\"1:1:ios:1\"]}}", "there is no app or OAuth client `1:1:ios:1`", "tokens.apps[0]"),
    ("{tokens: {apps: []}}", "without an app every token is refused", "tokens.apps"),
    ("{tokens: {providers: []}}", "without a provider every token is refused", "tokens.providers"),
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
    ("{path: /a, methods: [], tokens: {}}", "without a method", ".methods"),
    ("{path: /a, tokens: {apps: [\"1:1:ios:1\"]}}", "there is no app", ".tokens.apps[0]"),
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
        let route = "{path: /a, tokens: {}}"
        func section(_ count: Int) -> String {
            let routes = Array(repeating: route, count: count).joined(separator: ", ")
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
}
