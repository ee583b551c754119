internal import AssayKit
internal import NIOHTTP1

/// Replies that are made to be kept or are long are sent compressed to those who take that.
///
/// Only such as hold no secret: how well a body can be compressed tells of what is in it, to whoever can mix something of
/// his own into it and sees its length, also through TLS (the attack called BREACH).
extension HTTPReply {
    /// The same in the form that the client prefers, and with an entity tag if it has one; without its body when the client
    /// has that already, in either form.
    ///
    /// - Parameter isTagged: whether clients are to keep it.
    func selected(for request: HTTPHeaders, isTagged: Bool = false) -> HTTPReply {
        guard status == .ok else { return self }
        var reply = self
        reply.headers.append(("vary", "Accept-Encoding"))
        let isCompressed = body.count >= GZip.shortest && AcceptedCodings(request).preferGZip
        if isTagged {
            let tag = EntityTag(of: body)
            if let known = tag.known(to: request, isCompressed: isCompressed) {
                reply.headers.removeAll { $0.name.isExactly("content-type") }
                return HTTPReply(empty: .notModified, headers: reply.headers + [("etag", known)])
            }
            reply.headers.append(("etag", tag.text(isCompressed: isCompressed)))
        }
        guard isCompressed, let compressed = GZip.compress(body) else { return reply }
        reply.body = compressed
        reply.headers.append(("content-encoding", "gzip"))
        return reply
    }
}
