internal import AssayCore
internal import AssayKit

/// One entry of a backend's `routes`.
struct Route: Sendable {
    let path: RoutePath
    /// The path as the policy writes it.
    @Exact private(set) var text: String
    /// The place of the route in the policy; nil if the policy is not a file.
    @Exact private(set) var place: String?
    let methods: [String]?
    /// Its methods and its path, for people.
    @Exact private(set) var words: String
    /// Whether it says nothing of methods.
    var isForEveryMethod: Bool { methods.map { _ in false } ?? true }
    let tokens: TokenDemandConfiguration
    /// Whether its requests need a proof; nil for what the backend says.
    let requiresProof: Bool?

    init(
        path: RoutePath, text: String, place: String?, methods: [String]?, tokens: TokenDemandConfiguration,
        requiresProof: Bool?
    ) {
        self.path = path
        self.text = text
        self.place = place
        self.methods = methods
        self.tokens = tokens
        self.requiresProof = requiresProof
        words = [methods?.joined(separator: ", "), text].compactMap(\.self).joined(separator: " ")
    }

    func isFor(_ method: String) -> Bool {
        guard let methods else { return true }
        // Backends answer HEAD as they do GET.
        return methods.contains(exactly: method) || method.isExactly("HEAD") && methods.contains(exactly: "GET")
    }

    /// Whether it can demand more of a token than the backend itself does: unless all that it says makes the demand
    /// less.
    var mayDemandMore: Bool {
        switch tokens.enforcement {
        case .off, .unenforced: false
        case .enforced: true
        case nil:
            tokens.limitedUse == true || tokens.replayProtection == .enforced || tokens.maximumAge != nil
                || tokens.providers?.count != nil || tokens.apps?.count != nil
                || tokens.acceptsDevelopment == false || requiresProof == true
        }
    }
}

/// What a request to a backend has to meet.
enum RouteChoice: Sendable {
    /// The backend's own demand.
    case own
    /// What a route demands of it.
    case route(Route)
    /// It is unknown which route counts, so nothing is allowed.
    case unknown(Reason)

    /// Whether a route decides if the request needs a proof; nil for what the backend says.
    var requiresProof: Bool? {
        if case .route(let route) = self { route.requiresProof } else { nil }
    }

    /// The part of the backend's section, in words; nil for what no route has.
    var part: String? {
        switch self {
        case .own: nil
        case .route(let route): route.words
        case .unknown: Self.unclear
        }
    }

    static let unclear = "requests with an unclear path"
}

extension [Route] {
    /// The route that a request meets: the first that covers it, for any way in which a backend could read its path.
    func choice(_ method: String, _ target: String) -> RouteChoice {
        guard case .clear(let method, let path) = RequestTarget(method, target) else { return .ambiguous }
        guard !RequestTarget.hasOtherSpellings(path) else { return uncertainChoice(method) }
        let folded = RoutePath.folded(path)
        // Another spelling of a route's path must not get round what the route demands.
        let nearest = firstIndex { $0.isFor(method) && $0.path.nearlyCovers(folded: folded) }
        guard nearest == firstIndex(where: { $0.isFor(method) && $0.path.covers(path) }) else { return .ambiguous }
        return nearest.map { .route(self[$0]) } ?? .own
    }

    /// The choice for a path that a backend could take for any other: which only a route for all paths can change.
    private func uncertainChoice(_ method: String) -> RouteChoice {
        for route in self where route.isFor(method) {
            if route.path.isForAll { return .route(route) }
            // A route must state its demand, but need not state what it allows.
            if route.mayDemandMore { return .ambiguous }
        }
        return .own
    }
}

extension RouteChoice {
    static let ambiguous = RouteChoice.unknown(CustomBackendReasons.targetAmbiguous)
    static let missing = RouteChoice.unknown(CustomBackendReasons.targetMissing)
}

extension [Route] {
    /// Reports a route, or a method of one, that no request ever meets, as earlier routes cover all that it is for.
    ///
    /// - Parameters:
    ///   - route: the route after these.
    ///   - path: its place in its section.
    func report(
        hidden route: Route, at path: [ConfigurationError.Component], problems: inout ConfigurationProblems
    ) {
        guard let methods = route.methods else {
            guard let first = first(where: { $0.isForEveryMethod && $0.path.nearlyCovers(route.path) }) else { return }
            problems.report(at: path + ["path"], Self.words("no request meets this route", route, behind: first))
            return
        }
        let hiding = methods.map { method in first { $0.isFor(method) && $0.path.nearlyCovers(route.path) } }
        if let first = hiding.first ?? nil, hiding.allSatisfy({ $0 != nil }) {
            problems.report(at: path + ["path"], Self.words("no request meets this route", route, behind: first))
            return
        }
        for (index, first) in hiding.enumerated() {
            guard let first else { continue }
            problems.report(
                at: path + ["methods", .index(index)],
                Self.words("no request with `\(methods[index])` meets this route", route, behind: first))
        }
    }

    private static func words(_ what: String, _ route: Route, behind first: Route) -> String {
        let place = first.place.map { " at \($0)" } ?? ""
        // Another spelling of an earlier path is not allowed through either route.
        guard first.path.coversAll(of: route.path) else {
            return
                "\(what): its path differs from `\(first.text)`\(place) only in letter case or in the slash at its end, "
                + "and requests that could mean either are refused; write one of them"
        }
        return
            "\(what): the earlier route `\(first.text)`\(place) covers all of it, and the first that fits counts; put "
            + "this one before that"
    }
}
