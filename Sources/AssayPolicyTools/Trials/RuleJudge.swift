internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// Judges facts by the deny list and the rules of an app, and issues the token that evidence with them would get.
struct RuleJudge {
    private let issuer: TokenIssuer
    private let now: Instant
    private let denials: Denials

    init(now: Instant, denials: DenyList) throws(CryptoError) {
        issuer = TokenIssuer(signer: try JWSSigner(key: .generate(.ec(.p256)), keyID: "test", algorithm: .es256))
        self.now = now
        self.denials = Denials(policies: denials)
    }

    /// What becomes of evidence that a provider has verified.
    func finding(_ subject: Subject, _ facts: [Fact], limitedUse: Bool = false) throws(CryptoError) -> PolicyFinding {
        let judgement = denials.judge(
            facts, of: subject.app.identity, by: subject.provider.name, rules: subject.rules, at: now)
        var finding = PolicyFinding(judgement)
        guard finding.verdict == .accepted else { return finding }
        let token = try issuer.issue(
            AppCheckClaims(issuerPrefix: subject.app.issuerPrefix, app: subject.app.identity),
            provider: subject.provider.name, isForDevelopment: subject.descriptor.isForDevelopment,
            lifetime: subject.provider.tokenLifetime, limitedUse: limitedUse, mark: judgement.mark, now: now,
            randomness: .system)
        finding.token = PolicyFinding.Token(token.text, lifetime: token.lifetime, isForLimitedUse: limitedUse)
        return finding
    }

    /// What becomes of evidence that was decided about.
    ///
    /// Evidence that its provider refused was not kept: it stays refused.
    func finding(_ subject: Subject, _ decided: DecidedEvidence) throws(CryptoError) -> PolicyFinding {
        guard let reason = decided.reason else {
            return try finding(subject, decided.facts, limitedUse: decided.limitedUse)
        }
        var finding = PolicyFinding(verdict: .refused)
        finding.reason = reason
        finding.detail = "the recorded decision was made before rules were asked"
        return finding
    }
}

extension PolicyFinding {
    /// What becomes of genuine evidence.
    init(_ judgement: EvidenceJudgement) {
        let refusal = judgement.refusal
        self.init(verdict: refusal == nil ? .accepted : .refused)
        reason = refusal?.reason
        if case .denied = judgement { detail = refusal?.detail }
        take(judgement.rule, judgement.findings)
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
