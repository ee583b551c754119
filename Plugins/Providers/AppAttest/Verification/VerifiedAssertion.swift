public import AssayKit

/// What an assertion proved: the app on the device that has the attested key made it over this client data.
///
/// Whoever accepts it must store the counter atomically, or two requests can use one assertion.
public struct VerifiedAssertion: Sendable, Hashable {
    /// The counter: above the one before, mostly by one, with gaps.
    public let counter: UInt32
    /// How the system came to trust the app; nil before iOS 27 and macOS 27.
    public let validationCategory: ValidationCategory?
    /// The version of the app's bundle; nil before iOS 27 and macOS 27.
    @Exact public private(set) var bundleVersion: String?
    /// The digest of the app's code directory, on Macs whose app asks for it.
    public let codeDirectoryHash: [UInt8]?
    /// The kind of that digest; 2 is SHA-256.
    public let codeDirectoryHashType: UInt8?
    /// The flags of the authenticator data; nothing was judged by them.
    public let flags: UInt8
}
