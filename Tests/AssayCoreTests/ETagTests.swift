import AssayCore
import Testing

private let statements: [(String?, Bool)] = [
    (nil, true), ("*", true), ("\"AAECAwQFBgcICQoL\"", true), ("AAECAwQFBgcICQoL", false),
    ("W/\"AAECAwQFBgcICQoL\"", false), ("", false), ("\"\"", false),
]

@Suite("Entity tags")
struct ETagTests {
    private let tag = ETag.of(digest: (0..<32).map { UInt8($0) })

    @Test("A tag is strong, and depends on the digest")
    func form() {
        #expect(tag == "\"AAECAwQFBgcICQoL\"")
        #expect(ETag.of(digest: (1..<33).map { UInt8($0) }) != tag)
    }

    @Test("A change goes through by the present tag, by any, and by none", arguments: statements)
    func check(_ stated: String?, _ isGood: Bool) {
        if isGood {
            #expect(throws: Never.self) { try ETag.check(stated, is: tag) }
        } else {
            let failure = #expect(throws: CallFailure.self) { try ETag.check(stated, is: tag) }
            #expect(failure?.status == .aborted)
        }
    }
}
