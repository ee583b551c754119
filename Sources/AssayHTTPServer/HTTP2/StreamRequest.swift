internal import AssayCore
internal import AssayHTTP
internal import NIOHPACK

/// The head of a request of HTTP/2 (RFC 9113, section 8.3).
struct StreamRequest: Sendable {
    /// The request, without its body.
    var head: GatewayRequest
    /// The length of the body; nil if the client does not state it.
    let length: Int?
    /// The size of the head, in bytes.
    let size: Int
    /// The number of its fields, including those of the protocol.
    let fieldCount: Int

    /// Reads a block of fields that the protocol's parser has accepted.
    ///
    /// - Throws: `HTTPFault` when the request cannot be answered, whatever its body is.
    init(_ fields: HPACKHeaders, limits: HTTPLimits) throws(HTTPFault) {
        var pseudo: [ExactText: String] = [:]
        var headers = HeaderFields()
        var bytes = 0
        var count = 0
        for (name, value, _) in fields {
            bytes += name.utf8.count + value.utf8.count
            count += 1
            if name.utf8.first == UInt8(ascii: ":") {
                pseudo[name] = value
            } else {
                headers.append((name, value))
            }
        }
        guard bytes <= limits.headerBytes, count <= limits.headerFields else { throw .headersTooLarge }
        // CONNECT has no path; it is answered like an unknown path.
        guard let method = pseudo[":method"], let target = pseudo[":path"] ?? pseudo[":authority"],
            StreamRequest.isPrintable(method), StreamRequest.isPrintable(target)
        else { throw .malformed }

        // A client whose field names another host than the protocol's may have bypassed a check (section 8.3.1).
        let hosts = headers["host"]
        if let authority = pseudo[":authority"] {
            guard hosts.allSatisfy({ $0.isExactly(authority) }) else { throw .malformed }
            headers.removeAll { $0.name.isExactly("host") }
            headers.append(("host", authority))
        } else if hosts.count != 1 {
            throw .malformed
        }
        head = GatewayRequest(method: method, target: target, headers: headers)
        size = bytes
        fieldCount = count
        // The protocol's parser accepts one number.
        length = headers["content-length"].first.map { Int($0) ?? .max }
    }

    var expectsContinue: Bool {
        head.headers.members(of: "expect").contains { $0.isExactlyIgnoringASCIICase("100-continue") }
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
