import AssayCore
import AssayKit
import Testing

@testable import AssayWebhook

@Suite("The location of a webhook")
struct WebhookLocationTests {
    @Test("A URL needs no secret, and one may follow it by reference")
    func parts() throws {
        let plain = try WebhookLocation("https://logs.example.com/assay")
        #expect(plain.url.host == "logs.example.com")
        #expect(plain.bearer == nil)
        let secret = try WebhookLocation("https://logs.example.com/assay#bearer=env:LOG_TOKEN")
        #expect(secret.bearer == SecretReference("env:LOG_TOKEN"))
        #expect(secret.url == plain.url)
    }

    @Test(
        "Other forms are refused without repeating them",
        arguments: [
            "", "logs.example.com", "http://logs.example.com/assay", "ftp://logs.example.com",
            "https://user:hunter2@logs.example.com/", "https://logs.example.com/#bearer=hunter2",
            "https://logs.example.com/#hunter2", "https://logs.example.com/#bearer=env:",
        ])
    func wrong(_ text: String) {
        let error = #expect(throws: DecisionSinkError.self) { try WebhookLocation(text) }
        #expect(error?.message.contains("hunter2") == false)
    }
}
