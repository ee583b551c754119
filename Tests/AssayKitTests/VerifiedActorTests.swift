import AssayCore
import AssayKit
import Testing

@Suite("Claims of a signed-in user")
struct VerifiedActorTests {
    private let actor = VerifiedActor(
        issuer: "https://issuer.example", subject: "ada",
        claims: [
            "role": "driver", "a.b": "whole", "a": ["b": "part", "c": ["d": "deep"]], "list": ["x", 1, "y", .null],
            "number": 7, "\u{E9}": "composed",
        ])

    @Test(
        "A claim is found by its name, and one within others by a path; a name with points comes first",
        arguments: [
            ("role", "driver"), ("a.c.d", "deep"), ("a.b", "whole"), ("a..c.d", "deep"), (".role", "driver"),
            ("number", nil), ("list", nil), ("a", nil), ("a.c.d.e", nil), ("role.x", nil), ("none", nil), ("", nil),
            ("e\u{301}", nil), ("list.0", nil),
        ] as [(String, String?)])
    func text(_ path: String, _ value: String?) {
        #expect(actor.text(at: path).isExactly(value))
    }

    @Test("A list of texts is read without what is no text, and one text is a list of one")
    func texts() {
        #expect(actor.texts(at: "list") == ["x", "y"])
        #expect(actor.texts(at: "role") == ["driver"])
        #expect(actor.texts(at: "number").isEmpty)
        #expect(actor.texts(at: "none").isEmpty)
    }

    @Test("A path of many points, as a policy might have by mistake, finds nothing and ends")
    func longPath() {
        #expect(actor.text(at: String(repeating: ".", count: 100_000)).isNil)
        #expect(actor.text(at: String(repeating: "a.", count: 50_000)).isNil)
    }

    @Test("Users of two issuers, and names of other bytes, are different users")
    func equality() {
        func user(_ issuer: String, _ subject: String) -> VerifiedActor {
            VerifiedActor(issuer: issuer, subject: subject, claims: [:])
        }
        #expect(user("a", "b") == user("a", "b"))
        #expect(user("a", "b") != user("b", "b"))
        #expect(user("a", "\u{E9}") != user("a", "e\u{301}"))
    }
}
