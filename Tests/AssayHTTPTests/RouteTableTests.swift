import AssayCore
import AssayKit
import AssayTestSupport
import Testing

@testable import AssayHTTP

@Suite("Routes")
struct RouteTableTests {
    private let table: RouteTable

    init() throws {
        var table = try RouteTable(methods: FakeHandler().methods)
        for (name, template) in [
            ("driverToken", "/v1/token/driver/{resource}"), ("anyFile", "/v1/files/*"),
            ("firstFile", "/v1/files/first"), ("braced", "/v1/{a=b}"), ("capital", "/v1/Keys"),
            ("part", "/v1/{resource=projects/*/apps/*}/parts/{part}/of/{whole}"),
        ] {
            let rule = HTTPRule(.get, template, version: .v1)
            let method = MethodDescriptor(name: name, kind: .call(nil), resources: [], rules: [rule])
            try table.add(.get, template, .method(HTTPRoute(method, rule)))
        }
        self.table = table
    }

    private func found(_ verb: String, _ target: String) -> (name: String, match: RouteMatch)? {
        guard case .found(let match) = table.find(verb, target), case .method(let route) = match.endpoint else {
            return nil
        }
        return (route.name, match)
    }

    @Test(
        "a path finds its method and its resource",
        arguments: [
            (
                "POST", "/v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken", "exchangeDebugToken",
                "projects/1/apps/1:2:ios:ab"
            ),
            (
                "POST", "/v1/projects/1/apps/1%3A2%3aios%3Aab%3AexchangeDebugToken", "exchangeDebugToken",
                "projects/1/apps/1:2:ios:ab"
            ),
            (
                "POST", "/v1/projects/my-id/apps/x:exchangeDebugToken?alt=json&key=k", "exchangeDebugToken",
                "projects/my-id/apps/x"
            ),
            (
                "POST", "/v1/oauthClients/12-a.apps.example.com:exchangeDebugToken", "exchangeDebugToken",
                "oauthClients/12-a.apps.example.com"
            ),
            (
                "POST", "/v1/projects/1/apps/%C3%A9%20b:generateAppAttestChallenge", "generateAppAttestChallenge",
                "projects/1/apps/é b"
            ),
            ("POST", "http://h:1/v1/projects/1/apps/x:exchangeDebugToken#f", "exchangeDebugToken", "projects/1/apps/x"),
            ("GET", "/v1/jwks", "jwks", ""), ("HEAD", "/v1/jwks", "jwks", ""),
            ("GET", "/v1/%6Awks", "jwks", ""),
            ("GET", "/v1/token/driver/v%2F1:2", "driverToken", "v/1:2"),
            ("GET", "/v1/b", "braced", ""), ("GET", "/v1/Keys", "capital", ""),
            ("GET", "/v1/files/second", "anyFile", ""), ("GET", "/v1/files/first", "firstFile", ""),
        ])
    func finds(verb: String, target: String, method: String, resource: String) {
        let found = found(verb, target)
        #expect(found?.name == method)
        #expect(found?.match.resource == resource)
    }

    @Test("variables beside the resource are fields")
    func fields() {
        let match = found("GET", "/v1/projects/1/apps/a:b/parts/x%2Fy/of/z")?.match
        #expect(match?.resource == "projects/1/apps/a:b")
        #expect(match?.fields == [.init(name: "part", value: "x/y"), .init(name: "whole", value: "z")])
    }

    @Test("each version is a path of its own", arguments: APIVersion.allCases)
    func versions(version: APIVersion) {
        for (verb, path) in [("GET", "jwks"), ("POST", "projects/1/apps/2:exchangeDebugToken")] {
            guard case .method(let route) = found(verb, "/\(version.rawValue)/\(path)")?.match.endpoint else {
                Issue.record("\(path) is not found")
                continue
            }
            #expect(route.rule.version == version)
        }
    }

    @Test(
        "a path that no rule is of is unknown",
        arguments: [
            "/", "*", "host:443", "/v2/jwks", "/v1/jwks/", "//v1/jwks", "/v1//jwks", "/v1/jwks:x", "/v1/JWKS",
            "/v1/projects/1/apps/2", "/v1/projects/1/apps/2:", "/v1/projects/1/apps/2:unknown",
            "/v1/projects/1/apps/:exchangeDebugToken", "/v1/projects//apps/2:exchangeDebugToken",
            "/v1/projects/../apps/2:exchangeDebugToken", "/v1/projects/%2E%2e/apps/2:exchangeDebugToken",
            "/v1/projects/1/apps/.:exchangeDebugToken", "/v1/../v1/jwks",
            "/v1/projects%2F1/apps/2:exchangeDebugToken", "/v1/projects/1%2Fapps%2F2:exchangeDebugToken",
            "/v1/projects/1%2f2/apps/2:exchangeDebugToken", "/v1/projects/1/apps/2/3:exchangeDebugToken",
            "/v1/projects/1/apps/2:exchangeDebugToken:", "/v1/oauthClients/1:generateAppAttestChallenge",
            "/v1/{a=b}", "/v1/projects/1/apps/2:EXCHANGEDEBUGTOKEN", "/v1/projects/1/apps/2:exchangeDebugTo%E2%84%AAen",
            String(repeating: "/a", count: 5000),
        ])
    func unknown(target: String) {
        #expect(table.find("POST", target) == .unknown)
        #expect(table.find("GET", target) == .unknown)
    }

    @Test(
        "a broken escape, a control character and text that is not UTF-8 are malformed",
        arguments: [
            "/v1/%", "/v1/%4", "/v1/%zz", "/v1/jwks%00", "/v1/%0a", "/v1/%7F", "/v1/%FF", "/v1/%C3", "/v1/%ED%A0%80",
            "/v1/%C0%AF", "/v1/é", "/v1/\u{212A}eys", "/v1/a b", "/v1/projects/1/apps/%u0041:exchangeDebugToken",
        ])
    func malformed(target: String) {
        #expect(table.find("POST", target) == .malformed)
    }

    @Test("a path that is there for other HTTP methods says for which")
    func wrongVerb() {
        #expect(table.find("POST", "/v1/jwks") == .wrongVerb(allowed: [.get]))
        #expect(table.find("DELETE", "/readyz") == .wrongVerb(allowed: [.get]))
        #expect(table.find("get", "/v1/jwks") == .wrongVerb(allowed: [.get]))
        #expect(table.find("HEAD", "/v1/projects/1/apps/2:exchangeDebugToken") == .wrongVerb(allowed: [.post]))
    }

    @Test(
        "a text that is no template is refused",
        arguments: [
            "", "v1/a", "/", "/v1/", "/v1//a", "/v1/{", "/v1/{}", "/v1/{a}b", "/v1/x{a}", "/v1/{a}/{a}", "/v1/{a}{b}",
            "/v1/{a=}",
            "/v1/{a=b/**}", "/v1/a:", "/v1/a b", "/v1/%41", "/v1/{a=/b}", "/v1/a:b/c", "/v1/{a=b}:c:d",
        ])
    func notTemplates(text: String) throws {
        let error = #expect(throws: HTTPGatewayError.self) { try RouteTemplate(text) }
        #expect(error?.code == .invalidRule)
    }

    @Test("a slash at the end is passed over where administrators create something, and nowhere else")
    func slashAtTheEnd() throws {
        let methods = [
            ("createThing", HTTPRule.Verb.post, "/v1/things", Permission.admin),
            ("listThings", .get, "/v1/things", .admin), ("openThing", .post, "/v1/open", nil),
            ("verifyThing", .post, "/v1/verify", .verifyTokens),
        ].map { name, verb, template, permission in
            MethodDescriptor(
                name: name, kind: .call(permission), resources: [], rules: [HTTPRule(verb, template, version: .v1)])
        }
        let table = try RouteTable(methods: methods)
        let plain = table.find("POST", "/v1/things")
        guard case .found = plain else {
            Issue.record("the method is not found")
            return
        }
        #expect(table.find("POST", "/v1/things/") == plain)
        #expect(table.find("POST", "/v1/things/?alt=json") == plain)
        for (verb, target) in [
            ("GET", "/v1/things/"), ("PATCH", "/v1/things/"), ("POST", "/v1/things//"), ("POST", "/v1/things/%2F"),
            ("POST", "/v1/open/"), ("POST", "/v1/verify/"), ("POST", "/v1/none/"), ("POST", "/v1/"), ("POST", "/"),
        ] {
            #expect(table.find(verb, target) == .unknown, "\(verb) \(target)")
        }
    }

    @Test("two methods with one rule are refused")
    func conflicts() throws {
        let method = MethodDescriptor(name: "exchangeDebugToken", kind: .challenge, resources: [.app])
        let error = #expect(throws: HTTPGatewayError.self) {
            try RouteTable(methods: FakeHandler().methods + [method])
        }
        #expect(error?.code == .conflictingRules)
        #expect(error?.message.contains("/v1/{resource=projects/*/apps/*}:exchangeDebugToken") == true)
    }
}
