package import AssayCore
package import AssayKit

/// The level of one resource within a service, in place of the service's own.
package struct ResourcePolicy: Sendable, Hashable {
    @Exact package private(set) var id: String
    /// The resource: `//oauth2.googleapis.com/projects/NUMBER/oauthClients/CLIENT_ID`.
    @Exact package private(set) var target: String
    package var enforcement: EnforcementMode
    package var updated: Instant

    /// The one service that has resources with policies of their own.
    package static let service = "oauth2.googleapis.com"

    package init(id: String, target: String, enforcement: EnforcementMode, updated: Instant) {
        self.enforcement = enforcement
        self.updated = updated
        self.id = id
        self.target = target
    }

    package static func target(ofClient id: String, in project: ProjectIdentity) -> String {
        "//\(service)/projects/\(project.number)/oauthClients/\(id)"
    }
}
