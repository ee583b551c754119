public import AssayCore

/// A platform's names for an app: a section of an app in policies, such as `apple: {team_id: …, bundle_id: …}`.
///
/// A provider lists the sections that it reads in ``PluginDescriptor/platforms``. Providers of one platform share one
/// type. An app may have a section when any registered provider lists it; other sections are refused as unknown keys.
///
/// The section is decoded once, when policies are loaded. What decoding throws is reported at its place in the file.
/// `DescribedConfiguration.keys` explains the keys to editors. A provider finds the value with
/// ``AppIdentity/platform(_:)``.
public protocol PlatformSection: DescribedConfiguration, Sendable, Hashable {
    /// The key of the section in an app: lower-case letters, digits and underscores.
    static var name: String { get }

    /// One sentence for the person who writes the policy.
    static var summary: String { get }

    /// The section at the root of policies with what several apps of this platform share; nil, the default, for none.
    static var shared: SharedSection? { get }

    /// The platforms, as Firebase app IDs name them (`ios`, `android`, `web`), of the apps that the section is for; empty, the default,
    /// for any.
    static var appPlatforms: [String] { get }
}

extension PlatformSection {
    /// Nothing is shared.
    public static var shared: SharedSection? { nil }

    /// Any.
    public static var appPlatforms: [String] { [] }
}

/// A section at the root of policies that says once what providers of many apps need, such as the keys of a developer's team:
/// `apple_teams: {ABCDE12345: {device_check: {…}}}`.
///
/// Its names are values of one key of the platform's section. What it has for a provider lies beneath that provider's section in each
/// app with this value: mappings are merged by key, and the app's own keys hold.
public struct SharedSection: Sendable {
    /// The key at the root: lower-case letters, digits and underscores.
    @Exact public private(set) var name: String
    /// The key of the platform's section whose value names the part for an app.
    @Exact public private(set) var key: String
    /// One sentence for the person who writes the policy.
    @Exact public private(set) var summary: String

    /// Names a section.
    public init(_ name: String, by key: String, summary: String) {
        self.name = name
        self.key = key
        self.summary = summary
    }
}

/// The decoded platform sections of an app, compared by their values.
struct PlatformSections: Sendable, Hashable {
    let all: [any PlatformSection]

    static func == (left: PlatformSections, right: PlatformSections) -> Bool {
        left.all.map { AnyHashable($0) } == right.all.map { AnyHashable($0) }
    }

    func hash(into hasher: inout Hasher) {
        for section in all { section.hash(into: &hasher) }
    }
}
