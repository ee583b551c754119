internal import AssayCore
internal import AssayKit

/// The HTTP rules of a program with their owners: no two of them may lead to different methods for one request.
struct RouteClaims {
    private struct Claim {
        let rule: HTTPRule
        let template: HTTPTemplate
        let owner: String

        /// Whether a request could be for either rule, and only their order would decide.
        ///
        /// A rule for any HTTP method beside one for `GET` is clear within a plugin: the latter wins. Between two owners, one would
        /// take requests of the other.
        func conflicts(with other: Claim) -> Bool {
            let isOneVerb = rule.verb == other.rule.verb
            if owner.isExactly(other.owner) { return isOneVerb && template.isSame(as: other.template) }
            return (isOneVerb || rule.verb == .any || other.rule.verb == .any)
                && template.competes(with: other.template)
        }
    }

    /// By the number of segments.
    private var claims: [Int: [Claim]] = [:]

    /// Claims the rules of a method.
    ///
    /// - Throws: `RegistryError` with both owners for a rule that is claimed already, and for text that is no template.
    mutating func claim(_ method: MethodDescriptor, by owner: String) throws(RegistryError) {
        for rule in method.rules { try claim(rule, by: owner) }
    }

    /// Claims a rule.
    mutating func claim(_ rule: HTTPRule, by owner: String) throws(RegistryError) {
        guard let template = HTTPTemplate(rule.template) else {
            throw RegistryError("\(owner): the HTTP rule '\(PlainText.line("\(rule)"))' is not a template")
        }
        let claim = Claim(rule: rule, template: template, owner: owner)
        let others = claims[template.segments.count] ?? []
        if let other = others.first(where: { $0.conflicts(with: claim) }) {
            let same = "\(rule)".isExactly("\(other.rule)")
            throw RegistryError(
                same
                    ? "the HTTP rule '\(rule)' is claimed by both \(other.owner) and \(owner)"
                    : "the HTTP rules '\(other.rule)' of \(other.owner) and '\(rule)' of \(owner) match the same paths")
        }
        claims[template.segments.count, default: []].append(claim)
    }

    /// Whether nobody else has a rule for the same requests.
    func isFree(_ rule: HTTPRule) -> Bool {
        guard let template = HTTPTemplate(rule.template) else { return false }
        let claim = Claim(rule: rule, template: template, owner: "")
        return !(claims[template.segments.count] ?? []).contains { $0.conflicts(with: claim) }
    }
}
