import AssayCore
import AssayKit
import Foundation
import SwiftOverlayShims
import SwiftProtobuf
import Testing

@testable import AssayExtAuthz

private let token = "x-firebase-appcheck"

/// Merged header fields, raw ones, and what they show.
private let presented: [([(String, String)], [(String, String)], PresentedToken?)] = [
    ([], [], nil),
    ([(token, "")], [], nil),
    ([(token, "t")], [], .one("t")),
    ([], [(token, "t")], .one("t")),
    ([(token, "t")], [(token, "t")], .one("t")),
    ([(token, " t\t ")], [(token, "t \t")], .one("t")),
    ([(token, " ")], [(token, "\t")], nil),
    ([("X-Firebase-AppCheck", "t")], [("X-FIREBASE-APPCHECK", "t")], .one("t")),
    ([(token, "t,u")], [], .several),
    ([(token, "t,")], [], .several),
    ([(token, ",t")], [], .several),
    ([(token, "t,t")], [(token, "t"), (token, "t")], .several),
    ([(token, "t")], [(token, "u")], .several),
    ([(token, "t")], [(token, "t"), (token, "t")], .several),
    ([], [(token, "t"), (token, "u")], .several),
    ([], [(token, "t"), (token, "")], .several),
    ([(token, "t"), ("X-Firebase-AppCheck", "u")], [], .several),
    ([(token, "")], [(token, "t")], .several),
    ([("x-firebase-appcheck-2", "t"), ("authorization", "Bearer t")], [], nil),
]

/// Names of a client's headers, and whether a backend might take them for those of findings.
private let claims: [(String, Bool)] = [
    ("x-appcheck-app-id", true), ("X-AppCheck-Jti", true), ("x-appcheck-anything", true), ("x_appcheck_app_id", true),
    ("X-Appcheck_Provider", true), ("x-appcheck", false), ("x-firebase-appcheck", false), ("x-app-check-app-id", false),
]

private let marks = String(repeating: "a\u{315}\u{300}\u{316}", count: 30_000)
private let long = String(repeating: "a", count: 16_385)

/// Checks with something that is longer than it may be, or that is none.
private let excessive: [(String, CheckRequest)] = [
    ("commas", .about(headers: [(token, String(repeating: ",", count: 250_000))])),
    ("raw commas", .about(raw: [(token, String(repeating: ",", count: 250_000))])),
    ("marks as a token", .about(headers: [(token, marks)])), ("token", .about(headers: [(token, long)])),
    ("raw token", .about(raw: [(token, long)])), ("marks as a method", .about(marks)),
    ("method", .about(String(repeating: "A", count: 33))), ("space in a method", .about("GET /")),
    ("method in Unicode", .about("G\u{CB}T")), ("line in a method", .about("GET\r\n")),
    ("path", .about("GET", "/" + long)), ("marks as a path", .about("GET", marks)),
    ("marks as a backend", .about(backend: marks)),
    ("backend", .about(backend: String(repeating: "a", count: 257))),
    ("name", .about(headers: [("x-appcheck-" + String(repeating: "a", count: 246), "v")])),
]

@Suite("What Envoy asks")
struct AuthorizationQuestionTests {
    @Test("the token stands in one header field, in whatever form Envoy sends those", arguments: presented)
    func tokens(headers: [(String, String)], raw: [(String, String)], expected: PresentedToken?) throws {
        #expect(try question(.about(headers: headers, raw: raw)).call.token == expected)
    }

    @Test("a raw value counts in place of the other, and two that differ are two")
    func rawValues() throws {
        for (value, raw, expected) in [
            ("t", "", PresentedToken.one("t")), ("", "t", .one("t")), ("t", "u", .several), ("t", "t", .several),
        ] {
            var request = CheckRequest.about()
            request.attributes.request.http.headerMap.headers = [
                .with {
                    $0.key = Data(token.utf8)
                    $0.value = Data(value.utf8)
                    $0.rawValue = Data(raw.utf8)
                }
            ]
            #expect(try question(request).call.token == expected)
        }
    }

    @Test("a token in the query is told as such, whatever the header says")
    func inQuery() throws {
        let request = CheckRequest.about("GET", "/orders?X-Firebase-AppCheck=t", headers: [(token, "t")])
        #expect(try question(request).call.token == .inURL)
    }

    @Test("backend, method, path and the client's address are told")
    func message() throws {
        let call = try question(.about(backend: "orders")).call
        #expect(call.method == "verifyRequest")
        #expect(call.body == ["backend": "orders", "method": "POST", "uri": "/orders?page=2"])
        #expect(call.peer == "192.0.2.7")
        #expect(call.resource.isEmpty)
        #expect(call.credentials == nil)
    }

    @Test("what Envoy does not say is not told")
    func absent() throws {
        var request = CheckRequest()
        request.attributes.request.http = .init()
        let call = try question(request).call
        #expect(call.body == [:])
        #expect(call.peer == nil)
        #expect(call.token == nil)
    }

    @Test("bytes that are no text do not make a request unreadable")
    func noText() throws {
        var request = CheckRequest.about(headers: [("accept", "*/*")])
        request.attributes.request.http.path = Data([0x2F, 0xFF, 0xFE])
        request.attributes.request.http.headers[0].value = Data([0xC0, 0x80])
        let read = try CheckRequest(serializedBytes: try request.serializedBytes() as [UInt8])
        #expect(try question(read).call.body["uri"] == "/\u{FFFD}\u{FFFD}")
    }

    @Test("names that a backend might take for findings are noted, in lower case", arguments: claims)
    func claimed(name: String, isClaim: Bool) throws {
        let expected: Set<ExactText> = isClaim ? [ExactText(name.lowercasedASCII)] : []
        #expect(try question(.about(headers: [(name, "spoofed")])).claimed == expected)
        #expect(try question(.about(raw: [(name, "spoofed")])).claimed == expected)
    }

    @Test("what is longer than it may be is refused before it is looked at", arguments: excessive.map(\.0))
    func lengths(what: String) throws {
        let request = try #require(excessive.first { $0.0 == what }).1
        var begin = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin)
        #expect(throws: UnreadableCheck.self) { try question(request) }
        var end = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        // CPU time of this thread: a token of commas took 56 ms, a method of combining marks 142 ms in a release build.
        #expect((end.tv_sec - begin.tv_sec) * 1_000_000_000 + end.tv_nsec - begin.tv_nsec < 20_000_000)
    }

    @Test("the longest of everything is read")
    func longest() throws {
        let request = CheckRequest.about(
            String(repeating: "A", count: 32), "/" + long.dropLast(2),
            headers: [(token, String(long.dropLast())), ("x-appcheck-" + String(repeating: "a", count: 245), "v")],
            backend: String(repeating: "a", count: 256))
        let question = try question(request)
        #expect(question.call.token == .one(String(long.dropLast())))
        #expect(question.claimed.count == 1)
    }

    @Test("of a backend that is named twice the last counts, as in a map, and one that is no text is none")
    func backends() throws {
        var request = CheckRequest.about(backend: "orders")
        request.name(backend: Data("payments".utf8))
        #expect(try question(request).call.body["backend"] == "payments")
        request.name(backend: Data([0xC0, 0x80]))
        #expect(throws: UnreadableCheck.self) { try question(request) }
    }

    @Test("an address that is none is not told", arguments: ["", "é", String(repeating: "1", count: 65)])
    func addresses(text: String) throws {
        var request = CheckRequest.about()
        request.attributes.source.address.socketAddress.address = text
        #expect(try question(request).call.peer == nil)
    }

    @Test("what is not about an HTTP request cannot be answered")
    func notHTTP() {
        #expect(throws: UnreadableCheck.self) { try question(CheckRequest()) }
    }

    @Test("more header fields than there may be cannot be answered", arguments: [true, false])
    func tooMany(raw: Bool) throws {
        let fields = (0..<ExtAuthzLimits().headerFields).map { ("x-\($0)", "v") }
        func request(_ fields: [(String, String)]) -> CheckRequest {
            raw ? .about(raw: fields) : .about(headers: fields)
        }
        _ = try question(request(fields))
        #expect(throws: UnreadableCheck.self) { try question(request(fields + [("one-more", "v")])) }
    }

    @Test(
        "a name that could not be repeated to Envoy cannot be answered",
        arguments: ["x-appcheck-\n", "x-appcheck-é", "a b"])
    func strangeName(name: String) {
        #expect(throws: UnreadableCheck.self) { try question(.about(headers: [(name, "v")])) }
        #expect(throws: UnreadableCheck.self) { try question(.about(raw: [(name, "v")])) }
    }

    private func question(_ request: CheckRequest) throws -> AuthorizationQuestion {
        try AuthorizationQuestion(request, method: try DecidingMethod([.verifyRequest()]), limits: ExtAuthzLimits())
    }
}
