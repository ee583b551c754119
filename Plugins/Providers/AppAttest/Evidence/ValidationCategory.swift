/// How the system came to trust the app's code, as iOS 27 and macOS 27 report it.
///
/// Apple, Validating Apps That Connect to Your Server. The raw values are Apple's; others than those that have a name
/// here are kept.
public struct ValidationCategory: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Not validated.
    public static let invalid = ValidationCategory(rawValue: 0)
    /// Part of the operating system.
    public static let system = ValidationCategory(rawValue: 1)
    /// Installed with TestFlight.
    public static let testFlight = ValidationCategory(rawValue: 2)
    /// Signed for development.
    public static let development = ValidationCategory(rawValue: 3)
    /// Installed from the App Store.
    public static let appStore = ValidationCategory(rawValue: 4)
    /// Signed for an enterprise or for ad hoc distribution.
    public static let enterprise = ValidationCategory(rawValue: 5)
    /// Signed with a Developer ID, on macOS.
    public static let developerID = ValidationCategory(rawValue: 6)
    /// None of the others.
    public static let none = ValidationCategory(rawValue: 10)
}
