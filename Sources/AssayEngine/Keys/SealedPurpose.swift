internal import AssayCrypto
internal import AssayKit

/// Whom something sealed or authenticated is for: one app, one provider.
struct SealedPurpose: Sendable {
    /// The names, unambiguously joined.
    let label: [UInt8]
    /// The first eight bytes of the label's hash.
    let tag: [UInt8]

    init(resource: String, provider: String) {
        let resource = Array(resource.utf8)
        label = UInt64(resource.count).bigEndianBytes + resource + Array(provider.utf8)
        tag = Array(SHA256.hash(label).prefix(8))
    }
}
