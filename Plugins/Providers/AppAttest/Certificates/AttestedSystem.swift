public import AssayKit
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
