import AssayKit
import Foundation
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
        let expected: Set<String> = isClaim ? [name.lowercased()] : []
        #expect(try question(.about(headers: [(name, "spoofed")])).claimed == expected)
        #expect(try question(.about(raw: [(name, "spoofed")])).claimed == expected)
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
        try AuthorizationQuestion(request, method: "verifyRequest", limits: ExtAuthzLimits())
    }
}
