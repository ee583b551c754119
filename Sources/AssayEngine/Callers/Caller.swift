internal import AssayKit

/// Somebody whom a policy lets call methods that demand a permission.
final class Caller: Sendable {
    /// What it is called in audit records.
    let name: String
    private let permissions: Set<Permission>
    /// The names of the projects that it may act in; nil for all.
    private let projects: Set<ExactText>?

    init(name: String, permissions: Set<Permission>, projects: Set<ExactText>?) {
        self.name = name
        self.permissions = permissions
        self.projects = projects
    }

    func has(_ permission: Permission) -> Bool {
        permissions.contains(permission) || permissions.contains(.admin)
    }

    /// Whether it may act in a project; nil stands for one that no policy knows.
    func mayAct(in project: ProjectIdentity?) -> Bool {
        guard let projects else { return true }
        guard let project else { return false }
        return projects.contains(project.number) || projects.contains(project.id)
    }
}
