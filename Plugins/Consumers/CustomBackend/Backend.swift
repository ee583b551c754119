internal import AssayKit

/// One backend of a project.
struct Backend: Sendable {
    let name: String
    private let tokens: TokenDemandConfiguration?
    private let source: BackendConfiguration.OriginalRequest?
    private let routes: [Route]

    /// One entry of `routes`.
    private struct Route: Sendable {
        let path: [UInt8]
        let isPrefix: Bool
        let methods: Set<String>?
        let tokens: TokenDemandConfiguration

        func fits(_ method: String, _ target: [UInt8]) -> Bool {
            isFor(method) && (isPrefix ? target.starts(with: path) : target == path)
        }

        /// Whether it would fit to a backend that takes no notice of letter case, or of a slash at the end.
        func nearlyFits(_ method: String, _ target: [UInt8]) -> Bool {
            guard isFor(method) else { return false }
            let target = Route.folded(target)
            return isPrefix ? target.starts(with: path.map(Route.lowercased)) : target == Route.folded(path)
        }

        private func isFor(_ method: String) -> Bool {
            // Backends answer HEAD as they do GET.
            methods.map { $0.contains(method) || method == "HEAD" && $0.contains("GET") } ?? true
        }

        private static func folded(_ path: [UInt8]) -> [UInt8] {
            path.map(lowercased) + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
        }

        private static func lowercased(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
    }

    private static let routeLimit = 256

    init(
        _ name: String, _ configuration: BackendConfiguration, apps: Set<String>,
        at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        if !Backend.isName(name) {
            problems.report(at: path, "a backend's name is 1 to 64 letters, digits, `-`, `.` and `_`")
        }
        configuration.tokens?.report(apps: apps, providers: nil, at: path + ["tokens"], to: &problems)
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
        var routes: [Route] = []
        for (index, section) in sections.prefix(Backend.routeLimit).enumerated() {
            let place = path + ["routes", .index(index)]
            section.tokens.report(apps: apps, providers: nil, at: place + ["tokens"], to: &problems)
            for (index, method) in (section.methods ?? []).enumerated() where !Backend.isMethod(method) {
                problems.report(
                    at: place + ["methods", .index(index)], "expected an HTTP method in capitals, such as POST")
            }
            if section.methods?.isEmpty == true {
                problems.report(at: place + ["methods"], "without a method no request fits; leave the key out")
            }
            let isPrefix = section.path.last == "*"
            let text = isPrefix ? String(section.path.dropLast()) : section.path
            // A query is no part of a path, and to leave it out unsaid would make the route another one.
            guard text.first == "/", !text.contains(where: { "*?#".contains($0) }),
                case .clear(_, let bytes) = RequestTarget("GET", text)
            else {
                problems.report(
                    at: place + ["path"],
                    "expected a path such as /payments/* without a query, `//`, `.` and `..`, with a `*` at its end only"
                )
                continue
            }
            routes.append(
                Route(
                    path: bytes, isPrefix: isPrefix, methods: section.methods.map { Set($0) }, tokens: section.tokens))
        }
        try problems.throwIfAny()
        self.name = name
        self.routes = routes
        tokens = configuration.tokens
        source = configuration.originalRequest
    }

    /// What the client asked for, as far as it matters here.
    func target(of request: VerifyRequest) -> RequestTarget {
        guard !routes.isEmpty else { return .irrelevant }
        let (methods, targets) =
            switch source {
            case .original: (request.originalMethods, request.originalTargets)
            case .forwarded: (request.forwardedMethods, request.forwardedTargets)
            case .transport, nil: (request.methods, request.targets)
            }
        guard let method = methods.first, let target = targets.first else { return .missing }
        guard methods.count == 1, targets.count == 1 else { return .ambiguous }
        let read = RequestTarget(method, target)
        guard case .clear(let method, let path) = read else { return read }
        // Another spelling of a route's path must not get round what the route demands.
        let isPlain =
            routes.firstIndex { $0.nearlyFits(method, path) } == routes.firstIndex { $0.fits(method, path) }
        return isPlain ? read : .ambiguous
    }

    /// What a request demands of its token. One that is not clear gets the backend's own demand, and is refused later.
    func demand(for target: RequestTarget, _ base: TokenDemand) -> TokenDemand {
        var demand = tokens?.applied(to: base) ?? base
        switch target {
        case .irrelevant: break
        case .clear(let method, let path):
            if let route = routes.first(where: { $0.fits(method, path) }) { demand = route.tokens.applied(to: demand) }
        // Whatever the policy says of others: what is not known is not let through.
        case .missing, .ambiguous: demand.enforcement = .enforced
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

    private static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
