internal import AssayKit

/// One entry of a backend's `routes`.
struct Route: Sendable {
    let path: RoutePath
    /// The path as the policy writes it.
    @Exact private(set) var text: String
    /// Where the route stands; nil where the policy is no file.
    @Exact private(set) var place: String?
    let methods: [String]?
    /// Whether it says nothing of methods.
    var isForEveryMethod: Bool { methods.map { _ in false } ?? true }
    let tokens: TokenDemandConfiguration

    func isFor(_ method: String) -> Bool {
        guard let methods else { return true }
        // Backends answer HEAD as they do GET.
        return methods.contains(exactly: method) || method.isExactly("HEAD") && methods.contains(exactly: "GET")
    }

    /// Whether it can demand more of a token than the backend itself does: unless all that it says makes the demand less.
    var mayDemandMore: Bool {
        switch tokens.enforcement {
        case .off, .unenforced: false
        case .enforced: true
        case nil:
            tokens.limitedUse == true || tokens.replayProtection == .enforced || tokens.maximumAge != nil
                || tokens.providers?.count != nil || tokens.apps?.count != nil
                || tokens.acceptsDevelopment == false
        }
    }
}

/// What a request to a backend has to meet.
enum RouteChoice: Sendable {
    /// The backend's own demand.
    case own
    /// What a route demands of it.
    case route(Route)
    /// Which route counts is not known: nothing is let through.
    case unknown(Reason)

    /// Why a request cannot be judged; nil when it can.
    var problem: Reason? {
        if case .unknown(let reason) = self { reason } else { nil }
    }
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

    /// The choice for a path that a backend could take for any other: what no route before one for all paths can change.
    private func uncertainChoice(_ method: String) -> RouteChoice {
        for route in self where route.isFor(method) {
            if route.path.isForAll { return .route(route) }
            // What it demands cannot be left out. What it lets go is not given.
            if route.mayDemandMore { return .ambiguous }
        }
        return .own
    }
}

extension RouteChoice {
    static let ambiguous = RouteChoice.unknown(CustomBackendReasons.targetAmbiguous)
    static let missing = RouteChoice.unknown(CustomBackendReasons.targetMissing)
}
