import AssayCore
import AssayKit
import Testing

@Suite("Calls to other servers, and trying again")
struct OutboundTests {
    @Test("A host without a client refuses every call")
    func noClient() async throws {
        let url = try #require(EndpointURL("https://example.com"))
        await #expect(throws: OutboundFailure(.noClient, "this host has no HTTP client")) {
            _ = try await NoOutboundHTTP().send(OutboundRequest(.get, url))
        }
    }

    @Test(
        "Retry-After is read as seconds or as a date, and passed over when it is neither",
        arguments: [
            ("0", Duration.zero), ("120", .seconds(120)), ("99999999999999999999", .seconds(1_000_000_000)),
            ("Sat, 21 Nov 2026 12:00:30 GMT", .seconds(30)), ("Sat, 21 Nov 2026 11:00:00 GMT", .zero),
            ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil), ("Sat, 21 Nov 2026 12:00:30 CET", nil),
            ("2026-11-21T12:00:30Z", nil), ("Saturday, 21-Nov-26 12:00:30 GMT", nil),
            ("Sat, 31 Feb 2026 12:00:30 GMT", nil), ("Sat, 21 nov 2026 12:00:30 GMT", nil),
        ] as [(String, Duration?)])
    func retryAfter(_ value: String, _ expected: Duration?) {
        let response = OutboundResponse(status: 503, headers: [OutboundHeader("RETRY-after", value)])
        #expect(response.retryAfter(at: Instant(seconds: 1_795_262_400)) == expected)
        #expect(OutboundResponse(status: 503).retryAfter(at: Instant(seconds: 0)) == nil)
    }

    @Test("A form and JSON say what they are, and a form keeps every byte of its values")
    func bodies() throws {
        let url = try #require(EndpointURL("https://example.com/check"))
        let form = OutboundRequest.form(url, [("a b", "1&2=3%"), ("ü", "*-._~/")], headers: [OutboundHeader("X", "y")])
        #expect(String(decoding: form.body, as: UTF8.self) == "a+b=1%262%3D3%25&%C3%BC=*-._%7E%2F")
        #expect(form.method == .post && form.header("content-type") == "application/x-www-form-urlencoded")
        #expect(form.header("x") == "y")
        let json = OutboundRequest.json(url, ["a": 1], responseLimit: 10)
        #expect(json.body == Array(#"{"a":1}"#.utf8) && json.header("content-type") == "application/json")
        #expect(json.responseLimit == 10)
    }

    @Test("A body is JSON only if it is one text, and no object names a member twice")
    func json() {
        func json(_ text: String) -> JSON? { OutboundResponse(status: 200, body: Array(text.utf8)).json }
        #expect(json(#"{"success": true}"#)?["success"] == true)
        for text in ["", "{", "{} {}", #"{"success": false, "success": true}"#, "\u{FEFF}{}"] {
            #expect(json(text) == nil, "\(text)")
        }
    }

    @Test("Waits double up to the limit, however many failures there were")
    func longest() {
        let backoff = Backoff(first: .seconds(2), limit: .seconds(60))
        let waits = [1, 2, 3, 4, 5, 6, 7, 1000, .max].map { backoff.longest(after: $0) }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60, 60].map { Duration.seconds($0) })
        #expect(Backoff(first: .seconds(9), limit: .seconds(3)).longest(after: 1) == .seconds(3))
        #expect(Backoff(first: .seconds(Int64.max), limit: .seconds(Int64.max)).longest(after: 64) > .zero)
        #expect(backoff.longest(after: 0) == .seconds(2))
    }

    @Test("A wait is between half of the longest and the whole of it, and not always the same")
    func jitter() {
        let backoff = Backoff(first: .seconds(10), limit: .seconds(60))
        let waits = (0..<200).map { _ in backoff.delay(after: 2, randomness: .system) }
        #expect(waits.allSatisfy { (.seconds(10)...(.seconds(20))).contains($0) })
        #expect(Set(waits).count > 100)
        let least = backoff.delay(after: 2, randomness: Randomness { [UInt8](repeating: 0, count: $0) })
        #expect(least == .seconds(10))
    }
}
