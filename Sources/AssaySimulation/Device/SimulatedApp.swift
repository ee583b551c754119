public import AssayCBOR

/// The app on a simulated device that asks for evidence.
public struct SimulatedApp: Sendable, Equatable {
    /// `TEAM.bundle`.
    public var appID: String
    /// The App Attest environment that its keys are from.
    public var environment: SimulatedEnvironment
    /// What the extension map reports as the bundle's version.
    public var bundleVersion: String
    /// What the extension map reports as the validation category (Apple, "Validating apps that connect to your
    /// server"): 3 is development signing, 4 the App Store.
    public var validationCategory: UInt32

    /// Makes an app.
    ///
    /// - `validationCategory`: Nil for 3 in development and 4 in production.
    public init(
        appID: String, environment: SimulatedEnvironment, bundleVersion: String = "1",
        validationCategory: UInt32? = nil
    ) {
        self.appID = appID
        self.environment = environment
        self.bundleVersion = bundleVersion
        self.validationCategory = validationCategory ?? (environment == .development ? 3 : 4)
    }

    /// The extension map of authenticator data; nil for a system that writes none.
    public func extensions(on system: SimulatedSystem, codeDirectoryHash: [UInt8]) -> [CBORPair]? {
        guard system.hasExtensionMap else { return nil }
        let category = withUnsafeBytes(of: validationCategory.littleEndian) { Array($0) }
        var entries: [CBORPair] = []
        if system.hasCodeDirectoryHash {
            entries.append(CBORPair(.text("apple_cd_hash_hash_01"), .bytes(codeDirectoryHash)))
            entries.append(CBORPair(.text("apple_cd_hash_type_01"), .bytes([2])))
        }
        entries.append(CBORPair(.text("apple_bundle_version_01"), .text(bundleVersion)))
        // Four bytes, the least first, although Apple's text says UInt32.
        entries.append(CBORPair(.text("apple_validation_category_01"), .bytes(category)))
        return entries
    }
}

/// Which of App Attest's two environments a simulated app runs in.
public enum SimulatedEnvironment: Sendable, CaseIterable {
    case development
    case production

    /// The AAGUID in authenticator data ("Validating apps that connect to your server", step 8).
    public var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// The text in field 7 of receipts.
    public var receiptName: String {
        switch self {
        case .development: "sandbox"
        case .production: "production"
        }
    }
}
