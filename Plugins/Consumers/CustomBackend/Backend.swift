internal import AssayCore
internal import AssayKit
internal import AssayRequestProof

/// One backend of a project.
struct Backend: Sendable {
    private let name: String
    /// Its demand on tokens, unless a route changes it.
    private let demand: TokenDemand
    /// Whether administrators may change its levels.
    private let isEditable: Bool
    /// Its place in its section.
    private let path: [ConfigurationError.Component]
    private let source: BackendConfiguration.OriginalRequest?
    /// The HTTP status for allowed requests, if the policy sets one.
    private let successStatus: Int?
    private let routes: [Route]
    /// What it demands of proofs; nil when it demands none.
    private let proof: BackendProof?

    private static let routeLimit = 256

    /// - Parameter tokens: the section's demand on tokens, for what the backend does not set.
    init(
        _ name: String, _ configuration: BackendConfiguration, under tokens: TokenDemand,
        at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        if !Backend.isName(name) {
            problems.report(at: path, "a backend's name is 1 to 64 letters, digits, `-`, `.` and `_`")
        }
        configuration.tokens?.report(at: path + ["tokens"], to: &problems)
        if let status = configuration.successStatus, !BackendConfiguration.successStatuses.contains(status) {
            problems.report(at: path + ["success_status"], "expected a status from 200 to 299")
        }
        let sections = configuration.routes ?? []
        if sections.count > Backend.routeLimit {
            problems.report(at: path + ["routes"], "at most \(Backend.routeLimit) routes are supported")
        }
        if !sections.isEmpty, configuration.originalRequest == nil {
            problems.report(
                at: path + ["routes"],
                "`original_request` must say where the proxy puts its client's request: x-original, x-forwarded "
                    + "or transport")
        }
        let demand = configuration.tokens?.applied(to: tokens) ?? tokens
        let isEditable = configuration.editable ?? false
        if isEditable, demand.replayProtection > demand.enforcement {
            problems.report(
                at: path + ["editable"],
                "the levels of a service that administrators may change must be ones that they could set: replay protection "
                    + "\(demand.replayProtection.rawValue) is above enforcement \(demand.enforcement.rawValue)")
        }
        let proof = BackendProof(
            configuration.requestProof, original: configuration.originalRequest, at: path + ["request_proof"],
            problems: &problems)
        let methods = RouteMethods(configuration.otherMethods, at: path + ["other_methods"], problems: &problems)
        var routes: [Route] = []
        for (index, located) in sections.prefix(Backend.routeLimit).enumerated() {
            let place = path + ["routes", .index(index)]
            let section = located.value
            section.tokens.report(at: place + ["tokens"], to: &problems)
            if section.requestProof != nil, configuration.requestProof == nil {
                problems.report(
                    at: place + ["request_proof"],
                    "the backend has no section `request_proof`, which names the `authorities` of proofs")
            }
            methods.check(section.methods, at: place + ["methods"], problems: &problems)
            guard let routePath = RoutePath(section.path) else {
                problems.report(
                    at: place + ["path"],
                    "expected a path such as /payments/*, /payments/** or /payments, in ASCII, without a query, `//`, "
                        + "`.`, `..`, and what some backends read otherwise, with `*` or `/**` at its end only")
                continue
            }
            let route = Route(
                path: routePath, text: section.path, place: located.place, methods: section.methods,
                tokens: section.tokens, requiresProof: section.requestProof)
            routes.report(hidden: route, at: place, problems: &problems)
            proof?.report(route, under: demand, isEditable: isEditable, at: place, problems: &problems)
            routes.append(route)
        }
        proof?.report(demand, routes, isEditable: isEditable, at: path, problems: &problems)
        try problems.throwIfAny()
        self.name = name
        self.demand = demand
        self.isEditable = isEditable
        self.path = path
        self.routes = routes
        self.proof = proof
        source = configuration.originalRequest
        successStatus = configuration.successStatus
    }

    /// Finds what a request has to meet, and answers it.
    func prepare(_ request: VerifyRequest) -> PreparedRequest {
        let original = original(request)
        let choice = choice(original)
        let (demand, inherits) = self.demand(choice)
        // The demand of an unclear request is unknown: a valid token does not allow it.
        if case .unknown(let reason) = choice {
            return .refused(
                reason, service: name, part: choice.part, demand: demand, inherits: inherits, facts: original.facts)
        }
        if let proof, choice.requiresProof ?? proof.isRequired,
            demand.enforcement > .off || isEditable && inherits.contains(.enforcement)
        {
            return prepare(request, original, choice, proof)
        }
        return .immediate(
            service: name, part: choice.part, demand: demand, inherits: inherits, facts: original.facts
        ) { [successStatus] context in
            .granted(Backend.reply(context, successStatus))
        }
    }

    /// What its requests demand of tokens: each route, all others, and those of which it is unclear which route counts.
    var demands: [PartDemand] {
        let parts = routes.enumerated().map { index, route in
            let (demand, inherits) = self.demand(.route(route))
            return PartDemand(
                service: name, part: route.words, demand: demand,
                further: further(route.requiresProof, demand, inherits), inherits: inherits,
                at: path + ["routes", .index(index)])
        }
        let own = PartDemand(
            service: name, demand: demand, further: further(nil, demand, .all), inherits: .all, isEditable: isEditable,
            at: path)
        guard !routes.isEmpty else { return [own] }
        let (demand, inherits) = self.demand(.ambiguous)
        let unclear = PartDemand(
            service: name, part: RouteChoice.unclear, demand: demand, refusal: CustomBackendReasons.targetAmbiguous,
            inherits: inherits, at: path)
        return parts + [own, unclear]
    }

    private func further(_ requiresProof: Bool?, _ demand: TokenDemand, _ inherits: ServiceLevelSet) -> String? {
        guard let proof, requiresProof ?? proof.isRequired,
            demand.enforcement > .off || isEditable && inherits.contains(.enforcement)
        else { return nil }
        return "and a proof that the app's key signed the request"
    }

    /// The same for a request that must be proved.
    private func prepare(
        _ request: VerifyRequest, _ original: OriginalRequest, _ choice: RouteChoice, _ proof: BackendProof
    ) -> PreparedRequest {
        let (headers, target) = (request.proof, original.only)
        let (demand, inherits) = self.demand(choice)
        return PreparedRequest(
            service: name, part: choice.part, demand: demand, inherits: inherits, facts: original.facts
        ) { [successStatus] context in
            let isEnforced = context.enforcement == .enforced
            // Only a policy that does not enforce its demand lets a request without a valid token come this far.
            guard context.token != nil else { return .granted(Backend.reply(context, successStatus)) }
            let refusal: RequestProofRefusal?
            do {
                refusal = try await proof.refusal(
                    of: headers, method: target?.method, target: target?.target, context)
            } catch {
                if isEnforced { throw error }
                refusal = RequestProofRefusal(RequestProofReasons.undecided, "\(error)")
            }
            if let refusal {
                return Backend.verdict(
                    refusal.reason, detail: refusal.detail, isEnforced: isEnforced, context, successStatus)
            }
            var reply = Backend.reply(context, successStatus, proof: "verified")
            reply.facts = original.facts + Backend.facts(ofProof: "verified", context)
            return .granted(reply)
        }
    }

    /// Refuses a request, or lets it pass and says why it would be refused.
    private static func verdict(
        _ reason: Reason, detail: String? = nil, isEnforced: Bool, _ context: ConsumerContext, _ successStatus: Int?
    ) -> ConsumerVerdict {
        guard !isEnforced else { return .refused(reason, detail: detail) }
        var reply = reply(context, successStatus)
        reply.unenforced = reason
        reply.unenforcedDetail = detail
        return .granted(reply)
    }

    private static func facts(ofProof finding: String, _ context: ConsumerContext) -> [Fact] {
        var facts = [Fact(.requestProof, .text(finding))]
        if let key = context.token?.confirmation { facts.append(Fact(.requestKey, .text(key.identifier))) }
        return facts
    }

    /// What the proxy says that its client asked for.
    private func original(_ request: VerifyRequest) -> OriginalRequest {
        switch source {
        case .original: OriginalRequest(methods: request.originalMethods, targets: request.originalTargets)
        case .forwarded: OriginalRequest(methods: request.forwardedMethods, targets: request.forwardedTargets)
        case .transport, nil: OriginalRequest(methods: request.methods, targets: request.targets)
        }
    }

    private func choice(_ original: OriginalRequest) -> RouteChoice {
        guard !routes.isEmpty else { return .own }
        guard let method = original.methods.first, let target = original.targets.first else { return .missing }
        guard original.methods.count == 1, original.targets.count == 1 else { return .ambiguous }
        return routes.choice(method, target)
    }

    /// What a request has to meet, and which levels of that are the backend's own.
    private func demand(_ choice: RouteChoice) -> (TokenDemand, inherits: ServiceLevelSet) {
        switch choice {
        case .own: return (demand, .all)
        case .route(let route): return (route.tokens.applied(to: demand), route.tokens.inherited)
        case .unknown:
            // Whatever the policy enforces, an unclear request is not allowed.
            var demand = demand
            demand.enforcement = .enforced
            return (demand, .replayProtection)
        }
    }

    private static func reply(
        _ context: ConsumerContext, _ successStatus: Int?, proof: String? = nil
    ) -> ConsumerReply {
        var members = successStatus.map { [JSONMember("status", .integer(Int64($0)))] } ?? []
        if let proof { members.append(JSONMember("proof", .string(proof))) }
        if let token = context.token {
            members += [
                JSONMember("appId", .string(token.subject)), JSONMember("jti", .string(token.id)),
                JSONMember("consumed", .bool(context.consumesToken)),
            ]
            if let provider = token.provider { members.append(JSONMember("provider", .string(provider))) }
        }
        return ConsumerReply(.object(members))
    }

    private static func isName(_ text: String) -> Bool {
        // Paths cannot name the other two.
        (1...64).contains(text.utf8.count) && !text.isExactly(".") && !text.isExactly("..")
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
    }
}

/// What the proxy's client asked for, as the proxy tells it.
private struct OriginalRequest: Sendable {
    let methods: [String]
    let targets: [String]

    /// The method and the target, if there is one of each.
    var only: (method: String, target: String)? {
        guard methods.count == 1, targets.count == 1 else { return nil }
        return (methods[0], targets[0])
    }

    /// The facts about the request for the record.
    ///
    /// The query stays out of it: it may contain secrets.
    var facts: [Fact] {
        let paths = targets.prefix(2).map { target in
            String(decoding: target.utf8.prefix(512).prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        }
        var facts: [Fact] = []
        if !methods.isEmpty {
            facts.append(Fact(.requestMethod, cutting: methods.prefix(2).joined(separator: ", ")))
        }
        if !paths.isEmpty { facts.append(Fact(.requestPath, cutting: paths.joined(separator: ", "))) }
        return facts
    }
}
