internal import AssayKit

/// What all tokens for one app say.
struct TokenClaims: Sendable {
    /// `iss`: the issuer with the project's number behind it.
    let issuer: String
    /// `sub`: the app ID or the OAuth client ID.
    let subject: String
    /// `aud`: `projects/NUMBER`, then `projects/ID`.
    let audience: [String]

    init(issuerPrefix: String, app: AppIdentity) {
        issuer = issuerPrefix + app.project.number
        subject = app.subject
        audience = ["projects/\(app.project.number)", "projects/\(app.project.id)"]
    }
}
