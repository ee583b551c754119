import AssayCore
import AssayTesting
import Testing

@testable import AssayEngine

@Suite("Audiences above a resource")
struct AudienceTreeTests {
    /// What the tree replaces: every beginning that ends at a slash, or before one.
    private func longest(_ audiences: [String], above resource: String) -> String? {
        audiences.filter { audience in
            guard resource.utf8.starts(with: audience.utf8) else { return false }
            let rest = resource.utf8.dropFirst(audience.utf8.count)
            return rest.isEmpty || rest.first == UInt8(ascii: "/") || audience.utf8.last == UInt8(ascii: "/")
        }.max { $0.utf8.count < $1.utf8.count }
    }

    @Test("The longest one is found that is the resource, or ends at a slash of it, whatever the slashes are")
    func found() {
        var randomness = SystemRandomNumberGenerator()
        func text(_ most: Int) -> String {
            String(
                (0..<Int.random(in: 0...most, using: &randomness)).map { _ in
                    "ab//".randomElement(using: &randomness) ?? "/"
                })
        }
        var count = 0
        for _ in 0..<3000 {
            let audiences = (0..<6).map { _ in text(5) }
            let resource = text(9)
            var tree = AudienceTree()
            for audience in audiences { tree.insert(audience) }
            let expected = longest(audiences, above: resource)
            #expect(tree.longest(above: resource) == expected, "\(audiences) \(resource)")
            count += expected == nil ? 0 : 1
        }
        #expect(count > 300)
    }

    @Test("An audience is compared by its bytes")
    func bytes() {
        var tree = AudienceTree()
        tree.insert("https://jose\u{301}.example.com")
        #expect(tree.longest(above: "https://jos\u{E9}.example.com/a") == nil)
        #expect(tree.longest(above: "https://jose\u{301}.example.com/a") != nil)
    }
}
