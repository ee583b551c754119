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
