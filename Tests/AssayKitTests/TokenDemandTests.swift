import AssayCore
import AssayKit
import Foundation
import Testing

@Suite("What a policy demands of tokens")
struct TokenDemandTests {
    private func configuration(_ json: String) throws -> TokenDemandConfiguration {
        try JSONDecoder().decode(TokenDemandConfiguration.self, from: Data(json.utf8))
    }

    /// Differs from the standard in everything.
    private static let outer = TokenDemand(
        requiresLimitedUse: true, replayProtection: .unenforced, maximumAge: .seconds(60), providers: ["debug"],
        apps: ["a"], acceptsOAuthClients: true, acceptsDevelopment: true, enforcement: .off)

    private static func changed(_ change: (inout TokenDemand) -> Void) -> TokenDemand {
        var demand = outer
        change(&demand)
        return demand
    }

    @Test("An empty section changes nothing")
    func nothing() throws {
        #expect(try configuration("{}").applied(to: Self.outer) == Self.outer)
        #expect(try configuration("{}").applied(to: TokenDemand()) == TokenDemand())
    }

    @Test(
        "Each key changes its own demand and no other",
        arguments: [
            (#"{"limited_use": false}"#, changed { $0.requiresLimitedUse = false }),
            (#"{"replay_protection": "ENFORCED"}"#, changed { $0.replayProtection = .enforced }),
            (#"{"providers": ["app_attest", "debug"]}"#, changed { $0.providers = ["app_attest", "debug"] }),
            (#"{"apps": ["b"]}"#, changed { $0.apps = ["b"] }),
            (#"{"accept_oauth_clients": false}"#, changed { $0.acceptsOAuthClients = false }),
            (#"{"accept_development": false}"#, changed { $0.acceptsDevelopment = false }),
            (#"{"enforcement": "UNENFORCED"}"#, changed { $0.enforcement = .unenforced }),
        ] as [(String, TokenDemand)])
    func each(_ json: String, _ expected: TokenDemand) throws {
        #expect(expected != Self.outer)
        #expect(try configuration(json).applied(to: Self.outer) == expected)
    }

    @Test("A demand that no token can meet is reported at its key, below the section's own place")
    func unmeetable() throws {
        var problems = ConfigurationProblems()
        try configuration(#"{"apps": [], "providers": []}"#).report(at: ["tokens"], to: &problems)
        let error = try #require(throws: ConfigurationError.self) { try problems.throwIfAny() }
        #expect(error.all.map(\.path) == [["tokens", "apps"], ["tokens", "providers"]])
    }

    @Test("What can be met is not reported")
    func meetable() throws {
        var problems = ConfigurationProblems()
        try configuration(#"{"apps": ["a"], "providers": ["debug"]}"#).report(at: [], to: &problems)
        try configuration("{}").report(at: [], to: &problems)
        #expect(problems.isEmpty)
    }

    @Test("Every key is explained to those who write policies, and no other")
    func keys() {
        let keys: Set<ExactText> = [
            "enforcement", "limited_use", "replay_protection", "max_age", "providers", "apps", "accept_oauth_clients",
            "accept_development",
        ]
        #expect(Set(TokenDemandConfiguration.keys.keys) == keys)
    }
}

@Suite("How long tokens live")
struct TokenLifetimeTests {
    @Test(
        "From half an hour to seven days, in whole seconds",
        arguments: [
            (Duration.seconds(1800), true), (.seconds(604_800), true), (.seconds(3601), true), (.seconds(1799), false),
            (.seconds(604_801), false), (.milliseconds(1_800_500), false), (.zero, false), (.seconds(-3600), false),
            (.seconds(3600) + .nanoseconds(1), false),
        ])
    func possible(_ lifetime: Duration, _ isPossible: Bool) {
        #expect(TokenLifetime.isPossible(lifetime) == isPossible)
    }
}
