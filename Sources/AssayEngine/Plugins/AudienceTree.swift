internal import AssayCore

/// Audiences that are URLs, by the parts between their slashes.
///
/// A client chooses the text that is looked for: each part of it is looked at once, and only as far as an audience goes.
struct AudienceTree: Sendable {
    private var audience: String?
    private var below: [ExactText: AudienceTree] = [:]

    mutating func insert(_ audience: String) {
        insert(audience, audience.utf8[...])
    }

    private mutating func insert(_ audience: String, _ rest: Substring.UTF8View) {
        let (part, rest) = AudienceTree.split(rest)
        guard let rest else {
            below[part, default: AudienceTree()].audience = audience
            return
        }
        below[part, default: AudienceTree()].insert(audience, rest)
    }

    /// The longest audience that a resource is, or is below of: one that ends at a slash of the resource, or before it.
    func longest(above resource: String) -> String? {
        var found: String?
        var present = self
        var rest: Substring.UTF8View? = resource.utf8[...]
        while let text = rest {
            let (part, next) = AudienceTree.split(text)
            guard let tree = present.below[part] else { break }
            found = tree.audience ?? found
            // With the slash after it, too.
            if next != nil { found = tree.below[""]?.audience ?? found }
            present = tree
            rest = next
        }
        return found
    }

    /// The text up to the first slash, and the text after it; nil where there is no slash.
    private static func split(_ text: Substring.UTF8View) -> (ExactText, Substring.UTF8View?) {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else {
            return (ExactText(String(Substring(text))), nil)
        }
        return (ExactText(String(Substring(text[..<slash]))), text[text.index(after: slash)...])
    }
}
