internal import AssayCore
internal import AssayCrypto
internal import AssayKit

extension KernelMethods {
    /// `POST {resource=projects/*}:verifyAppCheckToken`: verifies a token and consumes it.
    ///
    /// The use is stored before the answer is sent. Admin SDKs repeat a request after a 503 or a lost connection. If an
    /// answer was lost, the second one says `alreadyConsumed`: the token is refused rather than accepted twice. A
    /// caller can avoid that by sending a `requestId`: the same request of the same caller gets the same answer again.
    ///
    /// In addition to Google's fields, a request may name the `service` that received the token, for the metrics.
    package static let verifyAppCheckToken = KernelMethod(
        MethodDescriptor(
            name: "verifyAppCheckToken", kind: .call(.verifyTokens), resources: [.project]
        ).with(request: KernelShapes.verification, reply: KernelShapes.verified),
        answer: { call in
            let project = try call.project()
            let text = try call.fields.string("appCheckToken")
            let request = try requestName(call)
            let service = try call.fields.optionalString("service")
            if let service { _ = try call.policies.services(of: project).find(service) }
            let inspection = TokenInspection(
                scope: call.scope, project: project, demand: project.verificationDemand)
            let use = { (app: String?, category: TokenUse.Category) in
                TokenCount(
                    project: project.identity.number, service: service, app: app, category: category,
                    enforcement: nil)
            }
            let accepted: TokenInspection.Accepted
            do throws(TokenInspection.Refusal) {
                accepted = try inspection.judge(text)
            } catch {
                var outcome = CallOutcome.refusedToken(error)
                outcome.tokenUse = use(error.app(of: project), .invalid)
                return outcome
            }
            return try await consume(accepted, request, call, use: use)
        })

    private static func consume(
        _ accepted: TokenInspection.Accepted, _ request: [UInt8]?, _ call: KernelCall,
        use: (String?, TokenUse.Category) -> TokenCount
    ) async throws -> CallOutcome {
        let finding = try await TokenConsumption(byVerificationOf: accepted, call.scope).use(request: request)
        let isFirst = finding == .first
        var outcome = CallOutcome.answered(
            isFirst ? [:] : ["alreadyConsumed": true],
            facts: accepted.facts + [Fact(.alreadyConsumed, .bool(!isFirst))])
        outcome.detail = finding.detail
        outcome.provider = accepted.provider
        outcome.tokenUse = use(accepted.token.subject, isFirst ? .verified : .reused)
        return outcome
    }

    /// The caller's name of its request, hashed together with the caller's own name; nil when it gives none.
    private static func requestName(_ call: KernelCall) throws(InvalidRequest) -> [UInt8]? {
        guard let id = try call.fields.optionalString("requestId") else { return nil }
        guard (16...128).contains(id.utf8.count) else {
            throw InvalidRequest("the field 'requestId' must have 16 to 128 bytes")
        }
        let caller = Array((call.caller?.name ?? "").utf8)
        return SHA256.hash(UInt64(caller.count).bigEndianBytes[...], caller[...], Array(id.utf8)[...])
    }
}

extension TokenInspection.Accepted {
    /// The facts about the token for the record.
    var facts: [Fact] { [Fact(.app, .text(token.subject)), Fact(.tokenID, .text(token.id))] }
}

extension TokenInspection.Refusal {
    /// The known facts about the token for the record.
    var facts: [Fact] {
        token.map { [Fact(.app, .text($0.subject)), Fact(.tokenID, .text($0.id))] } ?? []
    }

    /// The app that the token is for, if the project has it.
    func app(of project: ProjectBinding) -> String? {
        token.flatMap { project.apps[$0.subject] }?.identity.subject
    }
}

extension CallOutcome {
    /// The token is invalid.
    ///
    /// The caller learns nothing else, except what Google's service tells: that tokens of a provider cannot be verified
    /// at all.
    package static func refusedToken(_ refusal: TokenInspection.Refusal) -> CallOutcome {
        let isUnsupported = refusal.reason == KernelReasons.tokenProviderUnsupported
        let failure = CallFailure(
            isUnsupported ? .invalidArgument : .permissionDenied,
            isUnsupported ? "Tokens of this provider are not supported." : "The App Check token is invalid.",
            reason: refusal.reason, detail: refusal.detail)
        var outcome = CallOutcome(
            result: .failure(failure), outcome: .refused(refusal.reason), detail: refusal.detail)
        outcome.provider = refusal.token?.provider
        outcome.facts = refusal.facts
        outcome.isAboutGenuineToken = refusal.token != nil
        return outcome
    }
}
