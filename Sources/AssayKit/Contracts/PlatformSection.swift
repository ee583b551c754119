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
