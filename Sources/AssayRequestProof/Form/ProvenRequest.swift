public import AssayCore
internal import AssayCrypto

/// A request, as far as a proof covers it.
public struct ProvenRequest: Sendable, Hashable {
    /// The method, in the case in which it was sent.
    @Exact public private(set) var method: String
    /// The path with the query, exactly as the client sent it (`@request-target`, in origin form).
    @Exact public private(set) var target: String

    /// The longest target, in bytes.
    public static let targetLimit = 16_384

    /// Describes a request; nil for a method or a target that no request has.
    public init?(method: String, target: String) {
        guard (1...32).contains(method.utf8.count), method.utf8.allSatisfy(Self.isOfToken),
            target.utf8.first == UInt8(ascii: "/"), target.utf8.count <= Self.targetLimit,
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.method = method
        self.target = target
    }

    /// The text whose SHA-256 the device signs: the signature base of RFC 9421, section 2.5.
    ///
    /// - Parameters:
    ///   - authority: the host in lower case, with a port other than the scheme's own.
    ///   - contentDigest: the value of the field.
    ///   - created: seconds since 1970.
    public func signatureBase(authority: String, contentDigest: String, created: Int64) -> String {
        """
        "@method": \(method)
        "@authority": \(authority)
        "@request-target": \(target)
        "content-digest": \(contentDigest)
        "@signature-params": \(SignatureInput(created: created).text)
        """
    }

    /// The target without its query, which may hold secrets.
    var path: String { String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }.prefix(256), as: UTF8.self) }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// The field `Content-Digest` with one SHA-256 (RFC 9530, section 2).
enum ContentDigest {
    /// The digest; nil for a field of any other form.
    static func sha256(in field: String) -> [UInt8]? {
        guard field.utf8.count == 54, field.starts(withExactly: "sha-256=:"), field.ends(withExactly: ":") else {
            return nil
        }
        guard let digest = ByteSequence.decode(field.dropFirst(8)), digest.count == 32 else { return nil }
        return digest
    }
}

/// A byte sequence of structured fields: padded Base 64 between colons (RFC 9651, section 3.3.5).
enum ByteSequence {
    static func decode(_ text: Substring) -> [UInt8]? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: ":"), bytes.last == UInt8(ascii: ":"),
            bytes.count % 4 == 2, !bytes.contains(UInt8(ascii: "-")), !bytes.contains(UInt8(ascii: "_"))
        else { return nil }
        return Base64.decode(utf8: Array(bytes.dropFirst().dropLast()))
    }
}
