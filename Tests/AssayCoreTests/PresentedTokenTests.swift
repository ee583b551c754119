import AssayCore
import Testing

@Suite("The token that a request shows")
struct PresentedTokenTests {
    @Test(
        "A token in a query is found however its parameter is spelled",
        arguments: [
            "/?X-Firebase-AppCheck=t", "/a?b=c&appcheck=t", "/?app_check_token=t", "/?APPCHECK", "/?a;appCheck=t",
            "/?%61ppcheck=t", "/?app%2Dcheck=t", "/?firebase_app%5Fcheck=", "https://host/?--app--check--=t",
            "/?app------------------------------check=t",
        ])
    func inQuery(_ target: String) {
        #expect(PresentedToken(["t"], targets: ["/", target]) == .inURL)
        #expect(PresentedToken([], targets: [target]) == .inURL)
    }

    @Test(
        "Other parameters, values and paths hold no token",
        arguments: [
            "/appcheck=t", "/appcheck", "/?a=appcheck", "/?xappcheck=t", "/?appchecktokens=t", "/?app%check=t",
            "/?appchec%6=t", "/?app%20check=t", "/?", "", "?=appcheck", "/?\u{FF41}ppcheck=t",
        ])
    func notInQuery(_ target: String) {
        #expect(PresentedToken(["t"], targets: [target]) == .one("t"))
    }

    @Test("A name of many bytes is no token's, and is read no further than a token's name may reach")
    func longName() {
        let name = String(repeating: "x", count: 1_000_000) + "appcheck"
        #expect(PresentedToken([], targets: ["/?\(name)=t"]) == nil)
    }

    @Test("No value and an empty one are no token; two are several, also when they are the same or empty")
    func count() {
        #expect(PresentedToken([]) == nil)
        #expect(PresentedToken([""]) == nil)
        #expect(PresentedToken(["t", "t"]) == .several)
        #expect(PresentedToken(["", ""]) == .several)
    }

    @Test("Tokens are the same by their bytes")
    func equality() {
        #expect(PresentedToken.one("\u{E9}") != .one("e\u{301}"))
        #expect(PresentedToken.one("t") != .several)
        #expect(PresentedToken.several != .inURL)
    }
}
