/// An app of a suite's policy: two are in one project, the third is in another one.
public enum TestApp: Int, Sendable, Hashable, CaseIterable {
    /// The app that the genuine evidence is for.
    case first
    /// Another app of the same project.
    case second
    /// An app of another project.
    case foreign

    /// The number of the project.
    public var projectNumber: Int64 { self == .foreign ? 9_876_543_210 : 1_234_567_890 }
    /// The ID of the project.
    public var projectID: String { self == .foreign ? "other-project" : "example-project" }
    /// The last part of the app ID, which tells the apps apart.
    public var suffix: String { "00000000000000a\(rawValue + 1)" }

    /// The app ID: `1:1234567890:ios:00000000000000a1`.
    public func id(platform: String = "ios") -> String { "1:\(projectNumber):\(platform):\(suffix)" }

    /// The name of the resource, with the project's number.
    public func resource(platform: String = "ios") -> String {
        "projects/\(projectNumber)/apps/\(id(platform: platform))"
    }
}
