import AssayCore
import Testing

@testable import AssayHTTP

@Suite("Lists in headers")
struct HeaderMembersTests {
    @Test("A list is taken apart at its commas, in all fields of its name")
    func takesApart() {
        let headers = [("Expect", " a ,b"), ("x", "c"), ("expect", "d")] as HeaderFields
        #expect(headers.members(of: "expect") == ["a", "b", "d"])
        #expect(headers.members(of: "none").isEmpty)
    }

    @Test("Of a long list the first 64 members are taken apart, and nothing after them is lost", arguments: [1, 3])
    func endsEarly(fields: Int) {
        let value = String(repeating: "identity,", count: 5000) + "gzip"
        let headers = HeaderFields((0..<fields).map { _ in (name: "content-encoding", value: value) })
        let members = headers.members(of: "content-encoding")
        #expect(members.count == 64 + fields)
        #expect(members.prefix(64).allSatisfy { $0 == "identity" })
        #expect(members[64].hasSuffix(",gzip"))
        #expect(members.last?.hasSuffix(",gzip") == true)
    }
}
