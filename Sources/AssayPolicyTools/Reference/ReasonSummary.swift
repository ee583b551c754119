public import AssayCore
public import AssayEngine
internal import AssayKit

/// A reason with its owner, and with the responses that it causes.
public struct ReasonSummary: Sendable {
    /// The response to a client of one method.
    public struct Answer: Sendable {
        /// The method that was called.
        public let method: MethodDescriptor
        /// The failure that the kernel gives the transport.
        public let failure: CallFailure
    }

    /// The reason.
    public let reason: Reason
    /// The name of the provider or consumer that refuses with it; nil for the kernel.
    @Exact public private(set) var plugin: String?
    /// The answers, in the order of the methods.
    public let answers: [Answer]
}

extension Registry {
    /// Every reason, the kernel's first, with the exact responses that the kernel makes.
    public var listedReasons: [ReasonSummary] {
        let kernel = KernelReasons.all.map { reason in
            ReasonSummary(reason: reason, plugin: nil, answers: kernelSites.flatMap { $0.answers(reason) })
        }
        let ofProviders = descriptors.flatMap { descriptor in
            listed(descriptor, methods: providers[descriptor.name]?.methods.filter(\.isExchange) ?? []) {
                RefusalSite.evidence($0)
            }
        }
        let ofConsumers = consumerDescriptors.flatMap { descriptor in
            listed(descriptor, methods: consumers[descriptor.name].map(RefusalSite.methods(of:)) ?? []) {
                ConsumerBinding.failure($0)
            }
        }
        return kernel + ofProviders + ofConsumers
    }

    /// A plugin's own responses replace the kernel's.
    private func listed(
        _ descriptor: PluginDescriptor, methods: [MethodDescriptor], _ standard: (Reason) -> CallFailure?
    ) -> [ReasonSummary] {
        descriptor.reasons.map { reason in
            let own = descriptor.answers.filter { $0.reason == reason }
            let failures = own.isEmpty ? [standard(reason)].compactMap(\.self) : own
            return ReasonSummary(
                reason: reason, plugin: descriptor.name,
                answers: failures.flatMap { failure in
                    methods.map { ReasonSummary.Answer(method: $0, failure: failure) }
                })
        }
    }

    private var kernelSites: [RefusalSite] {
        let exchanges = providers.values.flatMap(\.methods).filter(\.isExchange)
        let consumers = consumers.values.flatMap(\.methods).filter(\.takesToken)
        let verification = KernelMethods.verifyAppCheckToken.descriptor
        let inspected = KernelReasons.ofInspection
        let admitted = inspected + KernelReasons.ofDemands + [KernelReasons.tokenReused]
        return [
            RefusalSite(exchanges.filter(\.takesChallenge), KernelReasons.challenges, RefusalSite.evidence),
            RefusalSite(exchanges, [KernelReasons.ruleRefused, KernelReasons.evidenceDenied], RefusalSite.evidence),
            RefusalSite(exchanges + consumers + [TokenExchange.method], [KernelReasons.rateLimited]) { _ in
                CallOutcome.limited(wait: .seconds(1)).failure
            },
            RefusalSite([verification], inspected.filter { $0 != KernelReasons.tokenOfOAuthClient }) { reason in
                CallOutcome.refusedToken(TokenInspection.Refusal(of: reason)).failure
            },
            RefusalSite(
                consumers,
                admitted + [KernelReasons.tokenMissing, KernelReasons.tokenRepeated, KernelReasons.tokenInURL]
            ) { CallFailure(TokenInspection.Refusal(of: $0)) },
            RefusalSite([TokenExchange.method], admitted) {
                CallFailure(TokenInspection.Refusal(of: $0))
            },
            RefusalSite(consumers, [KernelReasons.consumerUnknown]) { _ in CallFailure.absentConsumer() },
            RefusalSite([TokenExchange.method], [KernelReasons.consumerUnknown]) { _ in CallFailure.absentTarget() },
            RefusalSite(consumers + [TokenExchange.method], KernelReasons.ofActors) { CallFailure(actor: $0) },
        ]
    }
}

/// Methods that refuse in the same way with certain reasons.
private struct RefusalSite {
    let methods: [MethodDescriptor]
    let reasons: [Reason]
    let failure: (Reason) -> CallFailure?

    init(_ methods: [MethodDescriptor], _ reasons: [Reason], _ failure: @escaping (Reason) -> CallFailure?) {
        self.methods = methods.sorted { $0.name.precedesExactly($1.name) }
        self.reasons = reasons
        self.failure = failure
    }

    func answers(_ reason: Reason) -> [ReasonSummary.Answer] {
        guard reasons.contains(reason), let failure = failure(reason) else { return [] }
        return methods.map { ReasonSummary.Answer(method: $0, failure: failure) }
    }

    /// The response to a client whose evidence is refused.
    static func evidence(_ reason: Reason) -> CallFailure? { CallOutcome.refused(reason).failure }

    /// The methods by which a consumer can refuse.
    static func methods(of consumer: ConsumerPlugin) -> [MethodDescriptor] {
        consumer.methods + (consumer.exchangesTokens ? [TokenExchange.method] : [])
    }
}

extension KernelReasons {
    /// The reasons against a token wherever it is verified.
    fileprivate static let ofInspection = [
        tokenPlaceholder, tokenMalformed, tokenAlgorithm, tokenKeyUnknown, tokenSignature, tokenExpired,
        tokenNotYetValid, tokenIssuer, tokenAudience, tokenAppUnknown, tokenProviderUnsupported,
        tokenProviderNotAllowed, tokenForDevelopment, tokenOfOAuthClient, tokenDenied,
    ]
    /// The reasons against a valid token that does not meet a consumer's demand.
    fileprivate static let ofDemands = [tokenNotLimitedUse, tokenTooOld, tokenAppNotAllowed]
    /// The reasons against a user's token.
    fileprivate static let ofActors = [actorMalformed, actorIssuerUnknown, actorExpired, actorInvalid]
}

extension CallOutcome {
    fileprivate var failure: CallFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

extension MethodDescriptor {
    fileprivate var isExchange: Bool {
        if case .exchange = kind { true } else { false }
    }

    /// Whether its evidence is made for a challenge of this service.
    fileprivate var takesChallenge: Bool {
        findsChallenge || request?.fields.contains { $0.name.isExactly("challenge") } ?? true
    }
}
