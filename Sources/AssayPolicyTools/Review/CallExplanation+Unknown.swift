internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// What is said of a resource that no policy has.
extension PolicyView {
    /// - Parameter caller: the caller whose permission was checked.
    func explainUnknown(_ resource: String, limiting caller: CallerView?, _ explanation: inout CallExplanation) {
        do throws(InvalidRequest) {
            try ResourceName.check(resource)
        } catch {
            explanation.add(.stops, "\(error.message): INVALID_ARGUMENT")
            return
        }
        let (what, hint) = unknown(resource)
        stop(what, "NOT_FOUND", hint, limiting: caller, &explanation)
    }

    /// What is asked for is not there; a caller that may act in some projects only does not learn what exists.
    ///
    /// - Parameters:
    ///   - end: how the call ends for other callers.
    ///   - caller: the caller whose permission was checked.
    func stop(
        _ what: String, _ end: String?, _ hint: String?, limiting caller: CallerView?,
        _ explanation: inout CallExplanation, at place: SourceLocation? = nil
    ) {
        let hint = hint.map { "; \($0)" } ?? ""
        guard let caller, let projects = caller.configuration.projects else {
            explanation.add(.stops, what + (end.map { ": \($0)" } ?? "") + hint, at: place)
            return
        }
        explanation.add(
            .stops,
            "\(what): PERMISSION_DENIED, because the caller \(caller.policy.name) may act in "
                + "\(projects.joined(separator: ", ")) only\(hint)", at: caller.policy.section.location)
    }

    /// Which part of a resource's name no policy has, and what is perhaps meant.
    func unknown(_ resource: String) -> (what: String, hint: String?) {
        let parts = resource.split(onASCII: "/").map(String.init)
        guard let kind = parts.first, parts.count >= 2 else { return ("no policy has \(SafeText.of(resource))", nil) }
        let name = parts[1]
        if kind.isExactly("oauthClients") {
            return ("unknown OAuth client `\(SafeText.of(name))`", hint(name, among: .oauthClient))
        }
        guard let project = bound.projects["projects/\(name)"] else {
            let known = policies.projects.flatMap { [$0.identity.number, $0.identity.id] }
            return ("unknown project `\(SafeText.of(name))`", Spelling.hint(for: name, among: known))
        }
        guard parts.count == 4 else { return ("no policy has \(SafeText.of(resource))", nil) }
        let what = "unknown app `\(SafeText.of(parts[3]))` in the project \(project.identity.id)"
        if let other = policies.apps.first(where: {
            $0.identity.kind == .app && $0.identity.subject.isExactly(parts[3])
        }) {
            return (what, "it is in the project \(other.identity.project.id)")
        }
        return (what, hint(parts[3], among: .app, of: project.identity))
    }

    private func hint(_ name: String, among kind: ResourceKind, of project: ProjectIdentity? = nil) -> String? {
        let known = policies.apps.map(\.identity).filter { identity in
            identity.kind == kind && (project.map { $0.number.isExactly(identity.project.number) } ?? true)
        }
        return Spelling.hint(for: name, among: known.map(\.subject))
    }
}
