import AssayCore
import AssayKit
import AssayTesting
import Testing
import VisitorPass

/// Simulated clients, from whose requests the suite derives hostile requests.
@Suite("The contract of the consumer visitor_pass")
struct VisitorPassConformanceTests {
    private static let subject = ConsumerSubject(
        requests: [
            ConsumerSubject.Request(
                "issueVisitorPass",
                // What must be refused, although the token is good.
                adversaries: [
                    .notGranted: .request(VisitorPassConsumer.unknownPurpose) { call($0, "inspection") },
                    .malformed: .request { call($0, .string(String(repeating: "x", count: 65))) },
                ]
            ) { call($0, "delivery") }
        ],
        section: { _ in
            """
            audience: https://desk.example.com
            purposes: [delivery]
            lifetime: 5m
            """
        },
        wrongSections: ["audience: https://desk.example.com\npurposes: [] # wrong\nlifetime: 5m"],
        refusingSection: "audience: https://desk.example.com\npurposes: [inspection]\nlifetime: 5m")

    private static func call(_ client: TestClient, _ purpose: JSON) -> Call {
        Call("issueVisitorPass", body: ["purpose": purpose], token: .one(client.token))
    }

    @Test("The consumer keeps every rule")
    func conformance() async {
        let failures = await TokenConsumerSuite(VisitorPassConsumer.self, Self.subject).report(.quick).failures
        #expect(failures == [])
    }
}
