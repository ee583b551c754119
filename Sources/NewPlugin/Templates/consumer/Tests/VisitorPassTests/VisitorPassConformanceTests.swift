import AssayKit
import AssayTesting
import Testing
import VisitorPass

/// Simulated clients, from whose requests the suite derives hostile requests.
@Suite("The contract of the consumer visitor_pass")
struct VisitorPassConformanceTests {
    private static let subject = ConsumerSubject(
        requests: [
            ConsumerSubject.Request("issueVisitorPass") { client in
                Call("issueVisitorPass", body: ["purpose": "delivery"], token: .one(client.token))
            }
        ],
        section: { _ in
            """
            audience: https://desk.example.com
            purposes: [delivery]
            lifetime: 5m
            """
        },
        wrongSections: ["audience: https://desk.example.com\npurposes: [] # wrong\nlifetime: 5m"])

    @Test("The consumer keeps every rule")
    func conformance() async {
        let failures = await TokenConsumerSuite(VisitorPassConsumer.self, Self.subject).report(.quick).failures
        #expect(failures == [])
    }
}
