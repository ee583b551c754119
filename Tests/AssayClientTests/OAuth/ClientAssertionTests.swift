import AssayCore
import Testing

@testable import AssayClient

@Suite("Client assertions of a sign-in")
struct ClientAssertionTests {
    @Test("an assertion is a limited-use token of its own, in the parameters that Google Sign-In sends")
    func parameters() async throws {
        let scene = try ClientScene()
        let first = try await scene.appCheck.clientAssertion()
        #expect(first.parameters.map(\.name) == ["client_assertion_type", "client_assertion"])
        #expect(first.type == "urn:ietf:params:oauth:client-assertion-type:appcheck")
        #expect(try await scene.appCheck.clientAssertion().text != first.text)
        #expect(
            scene.service.requests.allSatisfy {
                String(decoding: $0.body, as: UTF8.self).contains("\"limited_use\":true")
            })
    }

    @Test(
        "an error is an error: no placeholder becomes an assertion",
        arguments: [
            "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==", "", "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==.a.b", "a.e30.b",
        ])
    func placeholder(text: String) async throws {
        let scene = try ClientScene(provider: CustomProvider { _ in IssuedToken(text: text, lifetime: .seconds(60)) })
        let error = await clientError { _ = try await scene.appCheck.clientAssertion() }
        #expect([.malformedReply, .foreignToken].contains(error?.code))
        let refused = try ClientScene()
        refused.service.next { _ in .error(403, "PERMISSION_DENIED", decision: "01KBH5DECISION") }
        let refusal = await clientError { _ = try await refused.appCheck.clientAssertion() }
        #expect(refusal?.code == .refused && refusal?.decision == "01KBH5DECISION")
    }

    @Test(
        "the parameters are added to an authorization request, escaped",
        arguments: [
            ("https://login.example.com/auth", "https://login.example.com/auth?"),
            ("https://login.example.com/auth?client_id=a", "https://login.example.com/auth?client_id=a&"),
            ("http://localhost:8080/auth", "http://localhost:8080/auth?"),
            ("http://login.example.com/auth", nil), ("https://login.example.com/auth#a", nil), ("", nil),
            ("https://login.example.com/auth?client_assertion=a", nil),
        ] as [(String, String?)])
    func url(request: String, start: String?) async throws {
        let assertion = ClientAssertion(text: "a.b+c.d")
        guard let start else {
            #expect(await clientError { _ = try assertion.adding(to: request) }?.code == .insecure)
            return
        }
        let type = "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Aappcheck"
        #expect(
            try assertion.adding(to: request)
                == "\(start)client_assertion_type=\(type)&client_assertion=a.b%2Bc.d")
    }
}
