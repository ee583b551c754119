import AssayCore
import Testing

@Suite("Rules for calls over HTTP")
struct HTTPRuleTests {
    @Test("A method has a path for each kind of its resources in each version, always in one order")
    func rules() {
        let path = MethodPath(.patch, "/tokens/{id}", body: .field("token"), query: ["updateMask"])
        let rules = path.rules(for: [.project, .app])
        #expect(
            rules.map(\.description) == [
                "PATCH /v1/{resource=projects/*/apps/*}/tokens/{id}", "PATCH /v1/{resource=projects/*}/tokens/{id}",
                "PATCH /v1beta/{resource=projects/*/apps/*}/tokens/{id}",
                "PATCH /v1beta/{resource=projects/*}/tokens/{id}",
            ])
        #expect(rules.allSatisfy { $0.body == .field("token") && $0.query == ["updateMask"] })
        #expect(rules.map(\.version) == [.v1, .v1, .v1beta, .v1beta])
        #expect(path.rules(for: []).isEmpty)
    }

    @Test("A method of one version only has no path in the other")
    func versions() {
        let rules = MethodPath(.post, ":verify", versions: [.v1beta]).rules(for: [.oauthClient])
        #expect(rules.map(\.template) == ["/v1beta/{resource=oauthClients/*}:verify"])
    }

    @Test("Only POST takes its body for the message unless a rule says otherwise", arguments: HTTPRule.Verb.allCases)
    func bodies(_ verb: HTTPRule.Verb) {
        #expect(HTTPRule(verb, "/x", version: .v1).body == (verb == .post ? .message : .none))
        #expect(HTTPRule(verb, "/x", version: .v1, body: .field("f")).body == .field("f"))
    }
}
