internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Reads the section `expect` of a test.
struct ExpectationReader {
    /// Nil for a test of permissions, and for one whose app or provider is wrong.
    let subject: Subject?
    let form: StatedCase.Form
    let registry: Registry

    /// The claims that tests cannot know.
    private static let unknowableClaims = ["jti", "iat", "exp"]

    func read(_ section: YAMLMapping) -> Expectation? {
        guard form != .caller else {
            guard let value = section.required("permission") else { return nil }
            return word(value, PolicyFinding.Permission.self).map { .permission(Expected($0, at: value)) }
        }
        guard let value = section.required("verdict") else {
            // The other keys are read for their errors.
            _ = optionalParts(section, verdict: nil)
            return nil
        }
        let verdict = word(value, PolicyFinding.Verdict.self)
        var expectation = optionalParts(section, verdict: verdict)
        guard let verdict else { return nil }
        expectation.verdict = Expected(verdict, at: value)
        return .verdict(expectation)
    }

    private func optionalParts(_ section: YAMLMapping, verdict: PolicyFinding.Verdict?) -> VerdictExpectation {
        var expectation = VerdictExpectation(verdict: Expected(verdict ?? .refused, at: section.value))
        let reason = section.optional("reason")
        let rule = section.stated("rule")
        let (marks, wouldRefuse) = (section.optional("marks"), section.optional("would_refuse"))
        let token = section.optional("token")
        if form == .request {
            for (key, value) in [("rule", rule), ("marks", marks), ("would_refuse", wouldRefuse), ("token", token)]
            where value != nil {
                section.report("has no effect with `request`: say `verdict` and `reason`", key: key)
            }
        }
        if let reason { expectation.reason = self.reason(reason, verdict) }
        if let rule {
            if rule.node.isAbsent { _ = section.optional("rule") }
            expectation.rule =
                rule.node.isNull ? Expected(nil, at: rule) : rule.decode(String.self).map { Expected($0, at: rule) }
        }
        if let marks {
            expectation.marks = names(marks)
            if verdict == .refused { marks.report("evidence that is refused has no marks") }
        }
        if let wouldRefuse { expectation.wouldRefuse = names(wouldRefuse) }
        if let token {
            if verdict == .refused { token.report("evidence that is refused gets no token") }
            read(token, into: &expectation)
        }
        return expectation
    }

    private func reason(_ value: YAMLValue, _ verdict: PolicyFinding.Verdict?) -> Expected<String>? {
        guard let code = value.decode(String.self) else { return nil }
        if verdict == .accepted {
            value.report("evidence that is accepted has no reason")
            return nil
        }
        let known = KernelReasons.all + (subject?.descriptor.reasons ?? registry.reasons)
        guard known.contains(where: { $0.code.isExactly(code) }) else {
            value.report("unknown reason `\(code)`", hint: Spelling.hint(for: code, among: known.map(\.code)))
            return nil
        }
        let ofFacts = [KernelReasons.ruleRefused.code, KernelReasons.evidenceDenied.code]
        if form == .facts, !ofFacts.contains(exactly: code) {
            value.report(
                "facts are judged by rules and the deny list, which refuse by "
                    + ofFacts.map { "`\($0)`" }.joined(separator: " and "),
                hint: "with `device` in the place of `facts`, evidence is made and verified")
            return nil
        }
        return Expected(code, at: value)
    }

    private func names(_ value: YAMLValue) -> Expected<[String]>? {
        guard let elements = value.elements() else { return nil }
        if elements.count > CaseReader.entryLimit { value.report("at most \(CaseReader.entryLimit) names") }
        return Expected(elements.prefix(CaseReader.entryLimit).compactMap { $0.decode(String.self) }, at: value)
    }

    private func read(_ token: YAMLValue, into expectation: inout VerdictExpectation) {
        guard let section = token.mapping() else { return }
        defer { section.finish() }
        if let value = section.optional("ttl") {
            expectation.lifetime = value.decode(Duration.self).map { Expected($0, at: value) }
        }
        if let value = section.optional("limited_use") {
            expectation.limitedUse = value.decode(Bool.self).map { Expected($0, at: value) }
        }
        guard let claims = section.optional("claims")?.mapping() else { return }
        let all = claims.all()
        if all.count > CaseReader.entryLimit {
            claims.value.report("a test has at most \(CaseReader.entryLimit) claims")
        }
        for (entry, value) in all.prefix(CaseReader.entryLimit) {
            if Self.unknowableClaims.contains(exactly: entry.key) {
                claims.report("`\(entry.key)` is another one in each token", key: entry.key, hint: "see `ttl`")
            }
            expectation.claims.append((entry.key, Expected(value.node.json, at: value)))
        }
    }

    /// One of the words of a type.
    private func word<Word: RawRepresentable & CaseIterable>(_ value: YAMLValue, _: Word.Type) -> Word?
    where Word.RawValue == String {
        guard let text = value.decode(String.self) else { return nil }
        guard let word = Word(exactly: text) else {
            let known = Word.allCases.map(\.rawValue)
            value.report(
                "expected \(known.joined(separator: " or "))",
                hint: Spelling.suggestion(for: text, among: known).map { "did you mean `\($0)`?" })
            return nil
        }
        return word
    }
}
