/// The app that evidence is to speak for, as the policy registers it.
public struct AppIdentity: Sendable, Hashable {
    /// The canonical resource name: `projects/NUMBER/apps/APP_ID` or `oauthClients/CLIENT_ID`.
    @Exact public private(set) var resource: String
    /// Whether it is an app or an OAuth client.
    public let kind: ResourceKind
    /// The project that it belongs to.
    public let project: ProjectIdentity
    /// The App Check app ID or the OAuth client ID: the subject of its tokens.
    @Exact public private(set) var subject: String
    /// What Apple knows the app by; nil for apps of other platforms.
    public let apple: AppleIdentity?
    /// The canonical resource name of the app that an OAuth client is linked to; nil for an app.
    @Exact public private(set) var linkedApp: String?

    public init(
        resource: String, kind: ResourceKind, project: ProjectIdentity, subject: String, apple: AppleIdentity? = nil,
        linkedApp: String? = nil
    ) {
        self.resource = resource
        self.kind = kind
        self.project = project
        self.subject = subject
        self.apple = apple
        self.linkedApp = linkedApp
    }
}

/// A project's two names (AIP-2510 lets clients use either).
public struct ProjectIdentity: Sendable, Hashable {
    @Exact public private(set) var number: String
    @Exact public private(set) var id: String

    public init(number: String, id: String) {
        self.number = number
        self.id = id
    }
}

/// An app's names at Apple.
public struct AppleIdentity: Sendable, Hashable {
    /// The ten-character team identifier.
    @Exact public private(set) var teamID: String
    /// The bundle identifier; on macOS the signing identifier.
    @Exact public private(set) var bundleID: String

    public init(teamID: String, bundleID: String) {
        self.teamID = teamID
        self.bundleID = bundleID
    }

    /// The App ID, `TEAM.bundle`, whose SHA-256 is the relying party identifier in App Attest's evidence.
    public var appID: String { "\(teamID).\(bundleID)" }
}

/// The kinds of resources that methods are called on: those that can obtain tokens, and projects.
public enum ResourceKind: String, Sendable, Hashable, CaseIterable {
    case app
    case oauthClient
    case project

    /// The pattern of the resource name, in the terms of gRPC transcoding.
    public var pattern: String {
        switch self {
        case .app: "projects/*/apps/*"
        case .oauthClient: "oauthClients/*"
        case .project: "projects/*"
        }
    }
}
