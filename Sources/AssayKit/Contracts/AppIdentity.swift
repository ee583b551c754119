public import AssayCore

/// The app that evidence must prove, as the policy registers it.
public struct AppIdentity: Sendable, Hashable {
    /// The canonical resource name: `projects/NUMBER/apps/APP_ID` or `oauthClients/CLIENT_ID`.
    @Exact public private(set) var resource: String
    /// The kind: an app or an OAuth client.
    public let kind: ResourceKind
    /// The project that it belongs to.
    public let project: ProjectIdentity
    /// The App Check app ID or the OAuth client ID: the subject of its tokens.
    @Exact public private(set) var subject: String
    /// The canonical resource name of the app that an OAuth client is linked to; nil for an app.
    @Exact public private(set) var linkedApp: String?
    private let sections: PlatformSections

    /// An app or an OAuth client.
    ///
    /// - `platforms`: the platform sections of the app; for an OAuth client, those of the app that it is linked
    ///   to.
    public init(
        resource: String, kind: ResourceKind, project: ProjectIdentity, subject: String, linkedApp: String? = nil,
        platforms: [any PlatformSection] = []
    ) {
        self.resource = resource
        self.kind = kind
        self.project = project
        self.subject = subject
        self.linkedApp = linkedApp
        sections = PlatformSections(all: platforms)
    }

    /// The section of a platform; nil when the policy has none.
    public func platform<Section: PlatformSection>(_ type: Section.Type) -> Section? {
        for section in sections.all {
            if let section = section as? Section { return section }
        }
        return nil
    }

    /// The same app with other platform sections.
    package func with(_ platforms: [any PlatformSection]) -> AppIdentity {
        AppIdentity(
            resource: resource, kind: kind, project: project, subject: subject, linkedApp: linkedApp,
            platforms: platforms)
    }
}

/// A project's two names (AIP-2510 lets clients use either), and its stage.
public struct ProjectIdentity: Sendable, Hashable {
    /// The project number: decimal digits.
    @Exact public private(set) var number: String
    /// The project ID, such as `example-project`.
    @Exact public private(set) var id: String
    /// What the project is for: the default of settings that differ between test and production systems.
    public let stage: ProjectStage

    /// A project by both names.
    public init(number: String, id: String, stage: ProjectStage = .production) {
        self.number = number
        self.id = id
        self.stage = stage
    }
}

/// What a project is for.
@nonexhaustive public enum ProjectStage: String, Decodable, Sendable, Hashable, CaseIterable {
    /// Test systems: where a policy does not say otherwise, evidence for development is accepted.
    case development
    /// Real users.
    case production
}
