internal import AssayKit

extension [Route] {
    /// Reports a route, or a method of one, that no request ever meets, as earlier routes cover all that it is for.
    ///
    /// - Parameters:
    ///   - route: stands behind these.
    ///   - path: where it stands in its section.
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
        // Another spelling of an earlier path is not let through to either.
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
