import AssayCore
import AssayKit
import Testing

@testable import AssayCustomBackend

/// What a route is for, paths that it covers, and paths that it does not.
private let forms: [(String, [String], [String])] = [
    ("/bank", ["/bank"], ["/bank/", "/bank/1", "/bank.json", "/banking", "/ban", "/", "/BANK"]),
    ("/bank/", ["/bank/"], ["/bank", "/bank/1"]),
    ("/bank*", ["/bank", "/bank/1", "/bank.json", "/banking", "/bank-2"], ["/ban", "/x/bank"]),
    ("/bank/*", ["/bank/", "/bank/1", "/bank/a/b"], ["/bank", "/bank.json", "/banking"]),
    (
        "/bank/**",
        [
            "/bank", "/bank/", "/bank/1", "/bank/a/b", "/bank.json", "/bank.tar.gz", "/bank.json/1", "/bank:pay",
            "/bank(1)",
            "/bank,1", "/bank@2", "/bank=1", "/bank~", "/bank!", "/bank'",
        ], ["/banking", "/bank2", "/bank-2", "/bank_2", "/bankA", "/ban", "/x/bank", "/", "/bank\u{E9}"]
    ),
    ("/v1/bank/**", ["/v1/bank", "/v1/bank.json", "/v1/bank/1"], ["/v1", "/v1.bank", "/v1/banks"]),
    ("/*", ["/", "/a", "/a/b"], []), ("/**", ["/", "/a", "/a/b.json"], []), ("/", ["/"], ["/a"]),
    ("/%62ank/**", ["/bank.json"], ["/banks"]),
]

@Suite("Paths of routes")
struct RoutePathTests {
    @Test("each form covers what it says, and nothing else", arguments: forms)
    func covers(_ text: String, _ covered: [String], _ others: [String]) throws {
        let path = try #require(RoutePath(text))
        for target in covered { #expect(path.covers(Array(target.utf8)), "\(target)") }
        for target in others { #expect(!path.covers(Array(target.utf8)), "\(target)") }
    }

    @Test("whatever it covers it covers nearly, in any letter case and with a slash at the end", arguments: forms)
    func nearly(_ text: String, _ covered: [String], _: [String]) throws {
        let path = try #require(RoutePath(text))
        for target in covered.flatMap({ [$0, $0.uppercased(), $0 + "/"] }) where !target.hasSuffix("//") {
            #expect(path.nearlyCovers(folded: RoutePath.folded(Array(target.utf8))), "\(target)")
        }
    }

    @Test(
        "a route for all paths is known as one", arguments: [("/*", true), ("/**", true), ("/", false), ("/a*", false)])
    func all(_ text: String, _ isForAll: Bool) throws {
        #expect(try #require(RoutePath(text)).isForAll == isForAll)
    }
}
