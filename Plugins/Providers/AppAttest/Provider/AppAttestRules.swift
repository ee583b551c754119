internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// What a policy demands of genuine evidence.
struct AppAttestRules: Sendable {
    let environments: Set<AppAttestEnvironment>
    private let categories: Set<ValidationCategory>?
    private let allowsUnreported: Bool

    init(_ configuration: AppAttestConfiguration, stage: ProjectStage) throws(ConfigurationError) {
        let standard: [AppAttestEnvironment] = stage == .development ? [.development, .production] : [.production]
        environments = Set(configuration.environments ?? standard)
        var problems = ConfigurationProblems()
        if environments.isEmpty {
            problems.report(at: ["environments"], "without an environment every device is refused")
        }
        if let listed = configuration.validationCategories, listed.isEmpty {
            problems.report(
                at: ["validation_categories"], "without a category every device is refused; leave the key out for any")
        }
        if configuration.unreportedValidationCategory != nil, configuration.validationCategories == nil {
            problems.report(at: ["unreported_validation_category"], "has no effect without `validation_categories`")
        }
        try problems.throwIfAny()
        categories = configuration.validationCategories.map { Set($0.map(\.category)) }
        allowsUnreported = configuration.unreportedValidationCategory != .refused
    }

    /// Why a category is refused; nil when it is accepted.
    func judge(_ category: ValidationCategory?) -> Reason? {
        guard let categories else { return nil }
        guard let category else { return allowsUnreported ? nil : AppAttestReasons.validationCategoryUnreported }
        return categories.contains(category) ? nil : AppAttestReasons.validationCategoryNotAllowed
    }
}

extension AppAttestConfiguration.Category {
    fileprivate var category: ValidationCategory {
        switch self {
        case .system: .system
        case .testFlight: .testFlight
        case .development: .development
        case .appStore: .appStore
        case .enterprise: .enterprise
        case .developerID: .developerID
        }
    }
}

/// The content of an artifact: an attested key and its origin.
///
/// Artifacts live as long as an app stays installed, so that every version of this layout stays readable:
///
///     1 ‖ environment (0 development, 1 production) ‖ milliseconds since 1970, 8 bytes ‖ 04 ‖ X ‖ Y
///     2 ‖ the same ‖ SHA-256 of the root's key
///
/// The first is for keys that Apple certified; the second for those under a root that the policy named instead of
/// Apple's, which must become invalid when the policy no longer names it.
struct AttestedKeyArtifact: Equatable {
    private static let version: UInt8 = 1
    private static let count = 75
    private static let versionWithRoot: UInt8 = 2

    /// `04 ‖ X ‖ Y` on P-256.
    let publicKey: [UInt8]
    let environment: AppAttestEnvironment
    /// When the attestation was verified.
    let attested: Instant
    /// SHA-256 of the key of the root that this one was attested under; nil for Apple's root.
    let root: [UInt8]?

    init(publicKey: [UInt8], environment: AppAttestEnvironment, attested: Instant, root: [UInt8]?) {
        self.publicKey = publicKey
        self.environment = environment
        self.attested = attested
        self.root = root
    }

    init?(encoded bytes: [UInt8]) {
        switch (bytes.first, bytes.count) {
        case (Self.version, Self.count): root = nil
        case (Self.versionWithRoot, Self.count + SHA256.byteCount): root = Array(bytes[Self.count...])
        default: return nil
        }
        // In bounds: there are at least `count` bytes.
        guard bytes[1] <= 1 else { return nil }
        environment = bytes[1] == 0 ? .development : .production
        let milliseconds = bytes[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        attested = Instant(milliseconds: Int64(bitPattern: milliseconds))
        publicKey = Array(bytes[10..<Self.count])
    }

    var encoded: [UInt8] {
        let milliseconds = UInt64(bitPattern: attested.milliseconds)
        return [root == nil ? Self.version : Self.versionWithRoot, environment == .development ? 0 : 1]
            + (0..<8).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64(56 - 8 * $0)) } + publicKey + (root ?? [])
    }

    /// The key's identifier.
    var keyID: [UInt8] { SHA256.hash(publicKey) }
}
