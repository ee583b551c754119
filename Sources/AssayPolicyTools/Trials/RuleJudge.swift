internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
internal import AssayPolicy

/// Judges facts by the deny list and the rules of an app, and issues the token that evidence with them would get.
struct RuleJudge {
    private let issuer: TokenIssuer
    private let now: Instant
    private let denials: DenyList

    init(now: Instant, denials: DenyList) throws(CryptoError) {
        issuer = TokenIssuer(signer: try JWSSigner(key: .generate(.ec(.p256)), keyID: "test", algorithm: .es256))
        self.now = now
        self.denials = denials
    }

    /// What becomes of evidence that a provider has verified.
    func finding(_ subject: Subject, _ facts: [Fact]) throws(CryptoError) -> PolicyFinding {
        if let denial = denials.denial(
            of: facts, provider: subject.provider.name, app: subject.app.identity, at: now)
        {
            var finding = PolicyFinding(verdict: .refused)
            finding.reason = KernelReasons.evidenceDenied
            finding.detail = denial.words
            return finding
        }
        let judgement = subject.rules.judge(facts, provider: subject.provider.name)
        var finding = PolicyFinding(judgement)
        guard finding.verdict == .accepted else { return finding }
        let token = try issuer.issue(
            TokenClaims(issuerPrefix: subject.app.issuerPrefix, app: subject.app.identity),
            provider: subject.provider.name, isForDevelopment: subject.descriptor.isForDevelopment,
            lifetime: subject.provider.tokenLifetime, limitedUse: false,
            mark: judgement.rule.flatMap { $0.addsClaim ? $0.name : nil }, now: now, randomness: .system)
        finding.token = PolicyFinding.Token(token.text, lifetime: token.lifetime, isForLimitedUse: false)
        return finding
    }

    /// What becomes of evidence that was decided about.
    ///
    /// Evidence that was refused before rules were asked was not kept: it stays refused.
    ///
    /// - Parameter reason: why the provider or the kernel refused it; nil if rules were asked.
    func finding(
        _ subject: Subject, _ facts: [Fact], refusedBy reason: Reason?
    ) throws(CryptoError) -> PolicyFinding {
        guard let reason else { return try finding(subject, facts) }
        var finding = PolicyFinding(verdict: .refused)
        finding.reason = reason
        finding.detail = "the recorded decision was made before rules were asked"
        return finding
    }
}

extension PolicyFinding {
    /// What becomes of genuine evidence after its rules were asked.
    init(_ judgement: RuleSet.Judgement) {
        let isRefused = judgement.rule?.effect == .refuse
        self.init(verdict: isRefused ? .refused : .accepted)
        if isRefused { reason = KernelReasons.ruleRefused }
        take(judgement.rule, RuleFindings(judgement))
    }

    /// Takes the rules that matched.
    mutating func take(_ decided: RulePolicy?, _ findings: RuleFindings) {
        rule = decided.map { ExactText($0.name) } ?? findings.decided
        ruleLocation = decided?.location
        if let decided, decided.effect == .mark { marks = [ExactText(decided.name)] }
        wouldRefuse = findings.wouldRefuse
    }
}

extension PolicyFinding.Token {
    /// Nil for text that is not a token.
    init?(_ text: String, lifetime: Duration, isForLimitedUse: Bool) {
        let parts = text.split(onASCII: ".")
        guard parts.count == 3, let payload = Base64.decode(String(parts[1])), let claims = try? JSON.parse(payload)
        else {
            return nil
        }
        self.lifetime = lifetime
        self.isForLimitedUse = isForLimitedUse
        self.claims = claims
    }
}
