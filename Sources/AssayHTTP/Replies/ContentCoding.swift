internal import AssayCore
internal import CLibZ

/// The content codings that a client accepts (RFC 9110, section 12.5.3), as far as this server uses them.
struct AcceptedCodings: Sendable {
    /// Weights in thousandths; if a coding is named twice, the first weight counts.
    private var weights: [ExactText: Int] = [:]

    init(_ request: HeaderFields) {
        for member in request.members(of: "accept-encoding") {
            let parts = member.split(onASCII: ";").map(\.trimmedASCII)
            // An unknown member has no effect.
            guard let name = parts.first?.lowercasedASCII, parts.count <= 2 else { continue }
            guard let weight = parts.count == 2 ? AcceptedCodings.weight(parts[1]) : 1000 else { continue }
            // Both names mean the same coding (section 8.4.1.3).
            let coding = name.isExactly("x-gzip") ? "gzip" : name
            if weights[coding] == nil { weights[coding] = weight }
        }
    }

    /// Whether a reply is to be compressed with gzip: the client accepts it, and does not prefer the plain form.
    var preferGZip: Bool {
        let gzip = weights["gzip"] ?? weights["*"] ?? 0
        return gzip > 0 && gzip >= weights["identity"] ?? 0
    }

    /// `q=0.5` in thousandths (section 12.4.2).
    private static func weight(_ text: Substring) -> Int? {
        guard text.lowercasedASCII.starts(withExactly: "q=") else { return nil }
        var rest = text.utf8.dropFirst(2)
        guard let first = rest.popFirst(), first == UInt8(ascii: "0") || first == UInt8(ascii: "1") else { return nil }
        var weight = first == UInt8(ascii: "1") ? 1000 : 0
        if let point = rest.popFirst() {
            guard point == UInt8(ascii: "."), rest.count <= 3 else { return nil }
            var place = 100
            for digit in rest {
                guard digit.isASCIIDigit else { return nil }
                weight += Int(digit - UInt8(ascii: "0")) * place
                place /= 10
            }
        }
        return weight <= 1000 ? weight : nil
    }
}

/// Compresses replies that clients keep, or that are long, for clients that accept it.
///
/// Only replies without a secret: the length of a compressed body reveals something about its content to an attacker
/// who can add text to it and sees its length, also through TLS (the attack called BREACH).
extension HTTPReply {
    /// The same reply in the form that the client prefers, with an entity tag if it has one; without its body if the
    /// client has it already, in either form.
    ///
    /// - Parameter isTagged: whether clients keep the reply.
    func selected(for request: HeaderFields, isTagged: Bool = false) -> HTTPReply {
        guard status == .ok else { return self }
        var reply = self
        reply.headers.append(("vary", "Accept-Encoding"))
        let isCompressed = body.count >= GZip.shortest && AcceptedCodings(request).preferGZip
        if isTagged {
            let tag = EntityTag(of: body)
            if let known = tag.known(to: request, isCompressed: isCompressed) {
                reply.headers.removeAll { $0.name.isExactly("content-type") }
                reply.headers.append(("etag", known))
                return HTTPReply(empty: .notModified, headers: reply.headers)
            }
            reply.headers.append(("etag", tag.text(isCompressed: isCompressed)))
        }
        guard isCompressed, let compressed = GZip.compress(body) else { return reply }
        reply.body = compressed
        reply.headers.append(("content-encoding", "gzip"))
        return reply
    }
}

/// Compresses whole bodies (RFC 1952).
///
/// It uses zlib itself: the libraries for NIO compress only within a channel's pipeline, which a gateway does not have.
enum GZip {
    /// Compressing a shorter body gains nothing: it is one packet in either form.
    static let shortest = 1024
    /// A longer body is sent as it is.
    static let longest = 1 << 26

    private static let gzipWindow: Int32 = 15 + 16
    private static let memoryLevel: Int32 = 8

    /// The compressed body; nil when it cannot be compressed.
    static func compress(_ body: [UInt8]) -> [UInt8]? {
        guard body.count <= longest else { return nil }
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzipWindow, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        // The output always fits, so that one call does all the work.
        let most = Int(deflateBound(&stream, uLong(body.count)))
        var source = body
        var isWhole = false
        let compressed = source.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: most) { output, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = most - Int(stream.avail_out)
            }
        }
        return isWhole ? compressed : nil
    }
}
