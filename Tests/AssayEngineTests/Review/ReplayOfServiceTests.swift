import AssayAppAttest
import AssayCore
import AssayDebug
import AssayEngine
import AssayPolicy
import AssayPolicyTools
@testable import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
import Testing

@Suite("The records of a service, tried with other policies")
struct ReplayOfServiceTests {
    private static let rules = """
                rules:
                  - {name: old-key, when: {key_age: {above: 1h}}, then: refuse}
                  - {name: tried, when: {key_age: {at_least: 60s}}, then: refuse, enforcement: shadow}
                  - {name: first-time, when: {key_age: {known: false}, provider: app_attest}, then: mark}
        """

    private func read(_ service: TestService, _ rules: String) throws -> (policies: PolicySet, registry: Registry) {
        let registry = service.engine.registry
        let text = TestService.policy(service.authority, providers: rules)
        return (registry.effective(try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])), registry)
    }

    @Test("What the service recorded is what its policies say, and a change of rules counts exactly")
    func service() async throws {
        let service = try TestService(providers: Self.rules)
        let (keyID, artifact) = try await service.attested()
        for seconds in [60, 600, 3600] {
            service.clock.advance(by: .seconds(seconds))
            _ = try await service.assert(keyID, artifact)
        }
        _ = await service.call("exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
        _ = await service.call("exchangeDebugToken", TestService.app, ["debugToken": "unknown"])
        _ = await service.call("exchangeDebugToken", "projects/example-project/apps/1:1:ios:0", [:])
        _ = await service.call("exchangeDebugToken", "projects/1", [:])
        _ = await service.call("exchangeDebugToken", TestService.otherApp, [:])
        _ = await service.call("exchangeDebugToken", TestService.app, [:])
        _ = await service.call("mintAppCheckToken", TestService.app, [:])
        let records = service.sink.records
        let lines = try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            for record in records { file.record(record) }
            await file.close()
            return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { Array($0.utf8) }
        }
        // The first line begins the chain.
        #expect(lines.count == records.count + 1 && records.count == 15)

        func replay(_ new: String) throws -> ReplayReport {
            var replay = try DecisionReplay(from: try read(service, Self.rules), to: try read(service, new))
            for line in lines { replay.read(line[...]) }
            return replay.result
        }
        let same = try replay(Self.rules)
        #expect(same.same == 15 && same.changedCount == 0 && same.otherPolicies == 0 && same.notJudged == [:])
        #expect(same.malformed == 0)

        let enforced = try replay(Self.rules.replacing(", enforcement: shadow", with: ""))
        #expect(enforced.same == 13 && enforced.changedCount == 2 && enforced.notJudged == [:])
        #expect(enforced.changed.map(\.group.rule) == ["tried"])
        #expect(enforced.changed.map(\.group.new) == ["refused rule_refused"])

        let lenient = try replay(Self.rules.replacing("above: 1h", with: "above: 2h"))
        #expect(
            lenient.changed.map { "\($0.group.old) -> \($0.group.new) \($0.count.count)" } == [
                "refused rule_refused -> issued 1"
            ])
        #expect(lenient.same == 14)
    }
}
