public import AssayCore
internal import AssayCrypto

/// The operating system that Apple's certificate names for the device, in extension 1.2.840.113635.100.8.7.
///
/// Apple does not document the extension; devices before iOS 14.2 left parts of it empty. Each part is optional.
public struct AttestedSystem: Sendable, Hashable {
    /// The version, such as `27.0.1`.
    @Exact public private(set) var version: String?
    /// The build, such as `24A446`.
    @Exact public private(set) var build: String?
    /// The family: `iphoneos` or `macosx`.
    @Exact public private(set) var family: String?

    /// Nothing known.
    init() {
        version = nil
        build = nil
        family = nil
    }

    init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        let values = try TaggedValues(extensionValue: extensionValue)
        version = values.text(1400)
        build = values.text(1403)
        family = values.text(1026)
    }

    /// Whether the device is a Mac.
    public var isMac: Bool { family.isExactly("macosx") }
}

/// The access-control policy of an attested key, in extension 1.2.840.113635.100.8.6.
enum AccessControlPolicy {
    /// What a Mac's key must carry: system integrity protection and full security were on when it was made.
    ///
    /// The whole value of the extension (Apple, Attestation Object Validation Guide). Keys of iPhones carry another
    /// value, which says nothing that is judged.
    static let mac: [UInt8] =
        [0x30, 0x46, 0xA3, 0x44, 0x04, 0x42] + [0x30, 0x40, 0x0C, 0x02, 0x31, 0x31, 0x30, 0x3A]
        + required("ok") + required("oa") + required("odel") + signing

    /// An operation that is allowed without more: its name, then [1] TRUE.
    private static func required(_ operation: StaticString) -> [UInt8] {
        let name = operation.withUTF8Buffer { Array($0) }
        let count = UInt8(truncatingIfNeeded: name.count)
        return [0x30, count + 7, 0x0C, count] + name + [0xA1, 0x03, 0x01, 0x01, 0xFF]
    }

    /// Signing, `osgn`, which needs `rsec` (the security level of the boot) of 1.
    private static let signing: [UInt8] =
        [0x30, 0x15, 0x0C, 0x04] + Array("osgn".utf8) + [0xA0, 0x06, 0x0C, 0x04] + Array("rsec".utf8)
        + [0x30, 0x05, 0xA6, 0x03, 0x02, 0x01, 0x01]
}

/// The form of the two undocumented leaf extensions: a sequence of numbered values, each an octet string or a number.
struct TaggedValues {
    private var texts: [UInt32: String] = [:]

    /// Reads the value of an extension; a repeated number is refused.
    init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        var reader = try DERReader.single(.sequence, in: extensionValue).reader
        var seen: Set<UInt32> = []
        while !reader.isAtEnd {
            let start = reader.offset
            let field = try reader.next()
            guard field.tag == .context(field.tag.number), seen.insert(field.tag.number).inserted else {
                throw ASN1Error(.tagUnexpected, at: start)
            }
            var content = field.reader
            let value = try content.next()
            try content.finish()
            guard value.tag == .octetString, value.content.count <= 256 else { continue }
            texts[field.tag.number] = String(validating: value.content, as: UTF8.self)
        }
    }

    /// The text under a number, which may be empty; nil when it is absent, and when the value is not UTF-8 text.
    func text(_ number: UInt32) -> String? {
        texts[number]
    }
}
