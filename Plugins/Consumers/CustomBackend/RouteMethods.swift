internal import AssayCore

/// The HTTP methods that routes can have: those that are registered with IANA ("Hypertext Transfer Protocol (HTTP)
/// Method Registry"), and others that a backend declares.
///
/// A misspelled method would fit no request, and so protect nothing.
struct RouteMethods {
    static let registered: [String] = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LABEL",
        "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "OPTIONS",
        "ORDERPATCH", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "TRACE",
        "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    private let known: [String]

    /// - Parameters:
    ///   - others: the methods that the backend declares in addition to the registered ones.
    ///   - path: their path in the section.
    init(
        _ others: [String]?, at path: [ConfigurationError.Component], problems: inout ConfigurationProblems
    ) {
        for (index, method) in (others ?? []).enumerated() {
            if !RouteMethods.isMethod(method) {
                problems.report(
                    at: path + [.index(index)], "expected an HTTP method in capitals, such as PURGE")
            } else if RouteMethods.registered.contains(exactly: method) {
                problems.report(at: path + [.index(index)], "`\(method)` is known without being listed here")
            }
        }
        if others?.isEmpty == true { problems.report(at: path, "without a method it says nothing; leave the key out") }
        known = RouteMethods.registered + (others ?? [])
    }

    /// Reports errors in the methods of a route.
    func check(
        _ methods: [String]?, at path: [ConfigurationError.Component], problems: inout ConfigurationProblems
    ) {
        for (index, method) in (methods ?? []).enumerated() where !known.contains(exactly: method) {
            let message =
                RouteMethods.isMethod(method)
                ? "unknown HTTP method `\(method)`; one that is not registered must be listed in the backend's "
                    + "`other_methods`"
                : "expected an HTTP method in capitals, such as POST"
            problems.report(
                ConfigurationError(
                    at: path + [.index(index)], message, found: method,
                    known: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] + known))
        }
        if methods?.isEmpty == true {
            problems.report(at: path, "without a method no request fits; leave the key out")
        }
    }

    private static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIUppercase || $0 == UInt8(ascii: "-") }
    }
}
