import AssayTestSupport
import Foundation
import Testing

/// The comparison is tried on tools that do not see one key of the policies: whatever a key decides must be missed.
extension DifferentialTests {
    /// Keys of which no tool states anything, so that it does not matter whether it sees them.
    ///
    /// The end of a path stands for all paths that end so, and `^` for the beginning.
    static let unstated: [String: String] = [
        "version": "there is only one",
        "^tokens": "how tokens are signed decides about none of them",
        "tokens.algorithm": "how tokens are signed decides about none of them",
        "capture": "what is captured decides nothing",
        "capture.public_key": "what is captured decides nothing",
        "capture.decisions": "what is captured decides nothing",
        "capture.max_evidence": "what is captured decides nothing",
        "capture.max_size": "what is captured decides nothing",
        "capture.max_age": "what is captured decides nothing",
        "caller.sha256": "tools know callers by their names, not by their tokens",
        "caller.token": "tools know callers by their names, not by their tokens",
        "tokens[].sha256": "tools know callers by their names, not by their tokens",
        "tokens[].name": "the name of a token is for records",
        "caller.optional": "every token of a caller is there",
        "project.number": "the projects are the same for all",
        "project.id": "the projects are the same for all",
        "project_addition.project": "the projects are the same for all",
        "app.id": "the apps are the same for all",
        "app.name": "a name for people",
        "oauth_client.id": "the apps are the same for all",
        "oauth_client.name": "a name for people",
        "oauth_client.app": "every client is linked to the same app",
        "profiles": "policies that name a profile are refused without it",
        "deny_entry.note": "a note for people",
        "authorization_servers": "the names by which requests choose are the same for all",
        "introspection": "tools say who may ask what a token is, and not what the answer is",
        "introspection.accept_development": "tools say who may ask what a token is, and not what the answer is",
        "success_status": "the HTTP status of what is allowed decides nothing",
        "other_methods": "policies with such a method are refused without it",
        "service.replay_protection": "whether a token was used before is in no policy, and tools do not judge it",
        "original_request": "every request here says the same wherever policies may look for it",
        "backends.*.request_proof.authorities": "no request here has a proof",
        "backends.*.request_proof.max_age": "no request here has a proof",
        "backends.*.request_proof.required": "no request here has a proof",
        "routes[].request_proof": "no request here has a proof",
        "shadow_notary.once": "what is only tried uses nothing up",
        "provider_sketch.shadow": "the provider has no settings",
        "consumption": "no tool states which uses of a token count together",
    ]

    /// The keys that policies here have, but for those that are left out.
    static let keys = SchemaPlace.keys { RandomValues.isLeftOut($0.path) }

    @Test("Every key of the schema is written, or left out for a reason")
    func coverage() {
        var values = RandomValues(SplitMix(seed: Self.seed))
        for _ in 0..<400 { _ = RandomPolicies(&values) }
        let missing = Self.keys.filter { !values.written.contains($0.path) }.map(\.path)
        #expect(missing.isEmpty, "not written: \(missing)")
        let all = SchemaPlace.keys { _ in false }.map(\.path)
        for paths in [RandomValues.leftOut.keys, Self.unstated.keys].map(Array.init) + [Self.rare] {
            for path in paths {
                #expect(
                    all.contains { "^\($0)" == path || $0 == path || $0.hasSuffix(".\(path)") }, "`\(path)` is no key")
            }
        }
    }

    /// Keys that decide about few of the requests here: only runs with `ASSAY_DIFFERENTIAL_SECONDS` try them.
    static let rare = [
        "project.verification", "service.editable", "service.accept_development", "backends.*.editable",
        "tokens.replay_protection", "routes[].tokens.max_age", "routes[].tokens.providers",
    ]

    private static func isRare(_ path: String) -> Bool { rare.contains { path == $0 || path.hasSuffix(".\($0)") } }

    /// `ASSAY_DIFFERENTIAL_KEY` is a part of the paths of the keys that are tried; all of them without it.
    static let plants = keys.map(\.path).filter { path in
        RandomValues.find(path, in: unstated) == nil && (seconds != nil || !isRare(path))
            && environment["ASSAY_DIFFERENTIAL_KEY"].map { path.contains($0) } ?? true
    }

    @Test("A tool that does not see a key is found out", arguments: plants)
    func plant(_ path: String) async throws {
        var random = SplitMix(seed: Self.seed)
        var tally = Tally()
        let limit = Self.isRare(path) ? 300 : 200
        while tally.disagreements.isEmpty, tally.policies - tally.invalid < limit, tally.policies < 2 * limit {
            tally = try await Self.run(RandomValues(SplitMix(seed: random.next()), focus: path), tally, unseen: path)
        }
        #expect(!tally.disagreements.isEmpty, "nothing is said of `\(path)`: \(tally.text)")
        let found = tally.disagreements.first?.prefix { $0 != "\n" } ?? "nothing"
        print("planted: \(path): after \(tally.policies - tally.invalid) sets, \(found.prefix(100))")
    }
}
