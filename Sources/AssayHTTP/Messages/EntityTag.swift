internal import AssayCrypto
internal import AssayKit
internal import NIOHTTP1

/// The entity tag of a reply that clients keep, and whether they have it already (RFC 9110, sections 8.8.3 and 13.1.2).
struct EntityTag: Sendable {
    let text: String

    init(of body: [UInt8]) {
        text = "\"\(Hex.encode(Array(SHA256.hash(body).prefix(16))))\""
    }

    /// Whether a request is for a reply only if it is another one than the client has.
    func isKnown(to request: HTTPHeaders) -> Bool {
        request[canonicalForm: "if-none-match"].contains { tag in
            // The comparison is the weak one: a proxy that compresses makes the tag weak.
            tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) == text[...] : tag == text[...])
        }
    }
}
