import AssayCore
import Testing

@testable import AssayCustomBackend

/// Holds what one route is said to cover of another against the paths that both cover.
@Suite("Routes that lie within other routes")
struct RouteCoverageTests {
    private static let texts = [
        "/", "/*", "/**", "/bank", "/bank/", "/bank*", "/bank/*", "/bank/**", "/Bank", "/BANK/**", "/bank-*",
        "/bank/a", "/bank/a*", "/bank/a/**", "/banking", "/banking/**", "/bank.json", "/bank:pay", "/ban*",
        "/x/bank/**",
    ]

    private static let paths: [[UInt8]] = [
        "/", "/a", "/b", "/ban", "/bank", "/bank/", "/BANK", "/Bank/", "/BANK/a", "/bank/a", "/bank/a/", "/bank/ab",
        "/bank/a/b", "/bank/a.json", "/bank/A-b", "/bank.json", "/bank.x", "/BANK.json", "/bank:pay", "/bank:payed",
        "/bank-2", "/banking", "/banking/", "/banking/x", "/Banking", "/bank_", "/x", "/x/bank", "/x/bank.json",
        "/x/banks",
    ].map { Array($0.utf8) }

    @Test("Whatever a route within another one is for, the other one is for, too", arguments: texts)
    func within(_ text: String) throws {
        let outer = try #require(RoutePath(text))
        for other in Self.texts {
            let inner = try #require(RoutePath(other))
            guard outer.coversAll(of: inner) else { continue }
            for path in Self.paths where inner.covers(path) {
                #expect(outer.covers(path), "\(other) has \(String(decoding: path, as: UTF8.self))")
            }
        }
    }

    @Test("A route with a path of its own is not said to lie within another one", arguments: texts)
    func apart(_ text: String) throws {
        let outer = try #require(RoutePath(text))
        for other in Self.texts {
            let inner = try #require(RoutePath(other))
            guard Self.paths.contains(where: { inner.covers($0) && !outer.covers($0) }) else { continue }
            #expect(!outer.coversAll(of: inner), "\(other)")
        }
    }

    @Test(
        "To a backend that takes no notice of letter case or a last slash, a route covers at least as much",
        arguments: texts)
    func nearly(_ text: String) throws {
        let outer = try #require(RoutePath(text))
        for other in Self.texts {
            let inner = try #require(RoutePath(other))
            if outer.coversAll(of: inner) { #expect(outer.nearlyCovers(inner), "\(other)") }
            guard outer.nearlyCovers(inner) else { continue }
            for path in Self.paths where inner.nearlyCovers(folded: RoutePath.folded(path)) {
                #expect(outer.nearlyCovers(folded: RoutePath.folded(path)), "\(other)")
            }
        }
    }

    @Test("Every route lies within itself, and within one for all paths", arguments: texts)
    func itself(_ text: String) throws {
        let route = try #require(RoutePath(text))
        #expect(route.coversAll(of: route))
        #expect(route.nearlyCovers(route))
        for all in ["/*", "/**"] { #expect(try #require(RoutePath(all)).coversAll(of: route)) }
    }
}
