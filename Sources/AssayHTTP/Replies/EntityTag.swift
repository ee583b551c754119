internal import AssayCore
internal import AssayCrypto

/// The entity tags of a reply that clients keep, plain and compressed, and the check whether a client has it already
/// (RFC 9110, sections 8.8.3 and 13.1.2).
struct EntityTag: Sendable {
    private let digest: String

    /// - Parameter body: the plain one.
    init(of body: [UInt8]) {
        digest = Hex.encode(Array(SHA256.hash(body).prefix(16)))
    }

    /// The two forms have different bytes, and so different tags.
    func text(isCompressed: Bool) -> String {
        isCompressed ? "\"\(digest)-gzip\"" : "\"\(digest)\""
    }

    /// The tag of the form that the client has, if it asks only for a changed one; nil when it has none.
    ///
    /// - Parameter isCompressed: the form that it would get, which counts if the request names both or any.
    func known(to request: HeaderFields, isCompressed: Bool) -> String? {
        let tags = request.members(of: "if-none-match")
        for tag in [text(isCompressed: isCompressed), text(isCompressed: !isCompressed)] {
            // The comparison is weak: a proxy that compresses makes the tag weak.
            if tags.contains(where: {
                $0.isExactly("*") || $0.isExactly(tag)
                    || $0.starts(withExactly: "W/") && $0.utf8.dropFirst(2).elementsEqual(tag.utf8)
            }) {
                return tag
            }
        }
        return nil
    }
}
