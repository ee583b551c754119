/// The operating system of a simulated device, as far as evidence shows it.
public struct SimulatedSystem: Sendable, Equatable {
    /// The family in leaf extension 8.7: `iphoneos` or `macosx`.
    public var family: String
    /// The system's version, such as `27.0`.
    public var version: String
    /// The system's build, such as `24A335`.
    public var build: String
    /// The build as a version number of five parts.
    public var buildVersion: String
    /// Property 4 of leaf extension 8.5: 10 on iPhone, 13 on the Mac.
    public var keyClass: UInt64
    /// The access-control policy of keys: the octets inside leaf extension 8.6.
    public var keyPolicy: [UInt8]
    /// The flags octet of authenticator data.
    ///
    /// It does not tell whether an extension map follows.
    public var flags: UInt8
    /// Whether a map with bundle version and validation category follows in authenticator data.
    public var hasExtensionMap: Bool
    /// Whether that map also holds the code directory's hash, as on a Mac with the opt-in entitlement.
    public var hasCodeDirectoryHash: Bool

    /// Makes any system; ``iOS27`` and others are real ones.
    public init(
        family: String, version: String, build: String, buildVersion: String, keyClass: UInt64, keyPolicy: [UInt8],
        flags: UInt8, hasExtensionMap: Bool, hasCodeDirectoryHash: Bool
    ) {
        self.family = family
        self.version = version
        self.build = build
        self.buildVersion = buildVersion
        self.keyClass = keyClass
        self.keyPolicy = keyPolicy
        self.flags = flags
        self.hasExtensionMap = hasExtensionMap
        self.hasCodeDirectoryHash = hasCodeDirectoryHash
    }

    /// An iPhone before the format changed: nothing after the key or the counter.
    public static let iOS26 = Self(
        family: "iphoneos", version: "26.4", build: "23E246", buildVersion: "23.5.246.0.0,0", keyClass: 10,
        keyPolicy: iPhonePolicy, flags: 0x40, hasExtensionMap: false, hasCodeDirectoryHash: false)

    /// An iPhone of 2026: an extension map, announced by the flags.
    public static let iOS27 = Self(
        family: "iphoneos", version: "27.0.1", build: "24A446", buildVersion: "24.1.446.0.0,0", keyClass: 10,
        keyPolicy: iPhonePolicy, flags: 0xC0, hasExtensionMap: true, hasCodeDirectoryHash: false)

    /// A Mac of 2026 with full security: an extension map with the code directory's hash, not announced by the flags.
    public static let macOS27 = Self(
        family: "macosx", version: "27.0", build: "26A325", buildVersion: "26.1.325.0.0,0", keyClass: 13,
        keyPolicy: macPolicy, flags: 0x40, hasExtensionMap: true, hasCodeDirectoryHash: true)

    /// The policy of iPhone keys since iOS 26.2.
    public static let iPhonePolicy = policy(["okd", "oa", "osgn", "odel", "ock"].map(always))

    /// The policy of Mac keys under System Integrity Protection and full security, the one that Apple demands.
    public static let macPolicy = policy(
        ["ok", "oa", "odel"].map(always) + [
            DERWriter.sequence(
                DERWriter.utf8String("osgn"),
                DERWriter.context(0, DERWriter.utf8String("rsec")),
                DERWriter.sequence(DERWriter.context(6, DERWriter.integer(1))))
        ])

    private static func policy(_ operations: [[UInt8]]) -> [UInt8] {
        DERWriter.sequence(DERWriter.utf8String("11"), DERWriter.value(0x30, operations.flatMap { $0 }))
    }

    private static func always(_ operation: String) -> [UInt8] {
        DERWriter.sequence(DERWriter.utf8String(operation), DERWriter.context(1, DERWriter.boolean(true)))
    }
}
