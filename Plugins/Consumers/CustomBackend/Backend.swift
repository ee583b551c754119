internal import AssayKit

/// One backend of a project.
struct Backend: Sendable {
    let name: String
    private let tokens: TokenDemandConfiguration?
    private let source: BackendConfiguration.OriginalRequest?
    /// The status over HTTP of what is let through, where the policy says one.
    let successStatus: Int?
    private let routes: [Route]

    private static let routeLimit = 256

    init(
        _ name: String, _ configuration: BackendConfiguration, at path: [ConfigurationError.Component]
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
            problems.report(at: path + ["routes"], "at most \(Backend.routeLimit) routes can be told apart")
        }
        if !sections.isEmpty, configuration.originalRequest == nil {
            problems.report(
                at: path + ["routes"],
                "`original_request` must say where the proxy tells what its client asked for: x-original, x-forwarded "
                    + "or transport")
        }
        let methods = RouteMethods(configuration.otherMethods, at: path + ["other_methods"], problems: &problems)
        var routes: [Route] = []
        for (index, located) in sections.prefix(Backend.routeLimit).enumerated() {
            let place = path + ["routes", .index(index)]
            let section = located.value
            section.tokens.report(at: place + ["tokens"], to: &problems)
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
                tokens: section.tokens)
            routes.report(hidden: route, at: place, problems: &problems)
            routes.append(route)
        }
        try problems.throwIfAny()
        self.name = name
        self.routes = routes
        tokens = configuration.tokens
        source = configuration.originalRequest
        successStatus = configuration.successStatus
    }

    /// What a request has to meet, by what the proxy tells of it.
    func choice(for request: VerifyRequest) -> RouteChoice {
        guard !routes.isEmpty else { return .own }
        let (methods, targets) = original(request)
        guard let method = methods.first, let target = targets.first else { return .missing }
        guard methods.count == 1, targets.count == 1 else { return .ambiguous }
        return routes.choice(method, target)
    }

    /// What the proxy says that its client asked for.
    private func original(_ request: VerifyRequest) -> (methods: [String], targets: [String]) {
        switch source {
        case .original: (request.originalMethods, request.originalTargets)
        case .forwarded: (request.forwardedMethods, request.forwardedTargets)
        case .transport, nil: (request.methods, request.targets)
        }
    }

    /// What the proxy's client asked for, for the record. The query stays out of it: secrets may be there.
    func facts(of request: VerifyRequest) -> [Fact] {
        let (methods, targets) = original(request)
        let paths = targets.prefix(2).map { target in
            String(decoding: target.utf8.prefix(512).prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        }
        var facts: [Fact] = []
        if !methods.isEmpty {
            facts.append(Fact(.requestMethod, .text(methods.prefix(2).joined(separator: ", "))))
        }
        if !paths.isEmpty { facts.append(Fact(.requestPath, .text(paths.joined(separator: ", ")))) }
        return facts
    }

    /// What a request demands of its token. One that is not clear gets the backend's own demand, and is refused later.
    func demand(for request: VerifyRequest, _ base: TokenDemand) -> TokenDemand {
        var demand = tokens?.applied(to: base) ?? base
        switch choice(for: request) {
        case .own: break
        case .route(let route): demand = route.tokens.applied(to: demand)
        // Whatever the policy says of others: what is not known is not let through.
        case .unknown: demand.enforcement = .enforced
        }
        return demand
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._".utf8.contains(byte)
                }
            }
    }
}
