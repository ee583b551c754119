import AssayCore
import AssayKit
import Testing

private let texts: [(String, Bool)] = [
    ("6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c10", true), ("6B4E1D0C-8F3A-4A52-BC1F-0E7D5B2A9C10", true),
    // Versions 1 and 7, and the variants of others.
    ("6b4e1d0c-8f3a-1a52-9c1f-0e7d5b2a9c10", false), ("6b4e1d0c-8f3a-7a52-9c1f-0e7d5b2a9c10", false),
    ("6b4e1d0c-8f3a-4a52-7c1f-0e7d5b2a9c10", false), ("6b4e1d0c-8f3a-4a52-cc1f-0e7d5b2a9c10", false),
    // Other forms.
    ("", false), ("6b4e1d0c8f3a4a529c1f0e7d5b2a9c10", false), ("{6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c10}", false),
    ("6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c1", false), ("6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c1g", false),
    ("6b4e1d0-c8f3a-4a52-9c1f-0e7d5b2a9c10", false), ("6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c\u{e9}", false),
    ("------------------------------------", false), (" 6b4e1d0c-8f3a-4a52-9c1f-0e7d5b2a9c10", false),
]

@Suite("Random UUIDs")
struct UUID4Tests {
    @Test("Those of version 4 are known, in either case, and no others", arguments: texts)
    func known(_ text: String, _ isOne: Bool) {
        #expect(UUID4.isText(text) == isOne)
    }

    @Test("Each that is made is one, in lower case, and none comes twice")
    func made() {
        let texts = (0..<200).map { _ in UUID4.text(.system) }
        #expect(texts.allSatisfy { UUID4.isText($0) && $0 == $0.lowercased() })
        #expect(Set(texts).count == texts.count)
    }
}
