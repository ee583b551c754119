internal import AssayCore
internal import AssayKit
internal import AssayPolicy

extension RequestScope {
    /// What the deny lists say of a token of an app, by its `jti` and by the attester that it was issued for.
    func denial(ofToken id: String, app: AppBinding) -> TokenDenial {
        if let obstacle = denials.obstacle(aboutEvidence: false, of: app.identity, at: now) { return .denied(obstacle) }
        var found = denials.first { $0.denial(ofToken: id, app: app.identity, at: now) }
        if found == nil, denials.namesAttesters {
            for tag in snapshot.keys.attesterTags(of: id) where found == nil {
                found = denials.first { $0.denial(of: tag, app: app.identity, at: now) }
            }
        }
        return found.map { .denied($0.denial.words) } ?? .none
    }
}
