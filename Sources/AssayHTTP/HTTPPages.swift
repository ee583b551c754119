public import AssayCore
public import AssayKit

/// The pages of a listener in addition to methods: `/livez` and `/healthz` (the process answers), `/readyz` (it can do
/// its work), `/plugins` (the health of each plugin), and `/metrics`.
///
/// Details are for operators: reasons name files and apps, and metrics count by project. A listener for strangers shows
/// neither.
public struct HTTPPages: Sendable {
    /// Whether the health pages are shown.
    public var showsHealth: Bool
    /// Whether `/readyz` gives the reason, with the plugins that cannot do their work, and whether there is a page
    /// `/plugins`; otherwise `/readyz` has only the status code.
    public var showsDetail: Bool
    /// What `/readyz` checks in addition to the handler; the worst answer is shown.
    public var checks: [@Sendable () async -> Readiness]
    /// What `/readyz` tells operators in addition, whatever the readiness is.
    public var notes: [@Sendable () -> String?] = []
    /// By which names requests may ask for the pages with details; nil for any.
    public var hosts: PageHosts?
    /// Makes the page of metrics in the format that a client's `Accept` header asks for, which is empty when it is
    /// missing.
    ///
    /// When nil, there is no such page.
    public var metrics: (@Sendable (_ accept: String) -> HTTPPage)?

    /// Makes the pages; by default, the health pages.
    public init(
        showsHealth: Bool = true, showsDetail: Bool = false, checks: [@Sendable () async -> Readiness] = [],
        metrics: (@Sendable (_ accept: String) -> HTTPPage)? = nil
    ) {
        self.showsHealth = showsHealth
        self.showsDetail = showsDetail
        self.checks = checks
        self.metrics = metrics
    }

    /// The health pages, without details.
    public static let health = HTTPPages()
    /// No page at all.
    public static let none = HTTPPages(showsHealth: false)
}

extension HTTPPages {
    /// Two names for one page, because both are common.
    private static let paths: [(path: String, endpoint: Endpoint)] = [
        ("/livez", .liveness), ("/healthz", .liveness), ("/readyz", .readiness), ("/plugins", .plugins),
        ("/metrics", .metrics),
    ]

    /// The rules of all pages, for `Registry`: a method with one of them would be hidden, or would hide the page.
    public static let reserved = ReservedNames(
        owner: "the HTTP server", rules: paths.map { HTTPRule(.get, $0.path, version: .v1) })

    /// The pages that are shown.
    var shown: [(path: String, endpoint: Endpoint)] {
        HTTPPages.paths.filter { page in
            switch page.endpoint {
            case .liveness, .readiness: showsHealth
            case .plugins: showsHealth && showsDetail
            case .metrics: metrics != nil
            case .method: false
            }
        }
    }

    /// These pages for a listener for strangers.
    public var withoutDetail: HTTPPages { HTTPPages(showsHealth: showsHealth, checks: checks) }
}

/// The names by which a server may be asked for pages with details.
///
/// A web page can make its reader's browser send requests to any address, by letting its own name lead there (DNS
/// rebinding), and read the answers. The requests have that name in `Host`. An address is nobody's name, and `localhost` is
/// each machine's own (RFC 6761, section 6.3).
public struct PageHosts: Sendable, Hashable {
    private let names: Set<ExactText>

    /// Addresses and `localhost`, and further names, which are compared without regard to the case of ASCII.
    public init(_ names: [String] = []) {
        self.names = Set((names + ["localhost"]).map { ExactText($0.lowercasedASCII) })
    }

    /// Whether a request may be answered: every host that it names is one of these.
    ///
    /// A client of HTTP/1.0 may name none, as no browser does.
    func accepts(_ request: GatewayRequest) -> Bool {
        let authority = RequestPath.authority(of: request.target).map { String(decoding: $0, as: UTF8.self) }
        return (request.headers["host"] + [authority].compactMap(\.self)).allSatisfy { accepts($0) }
    }

    private func accepts(_ host: String) -> Bool {
        // At most 253 characters are a name, and a port has five.
        guard host.utf8.count <= 264 else { return false }
        var name = host.utf8[...]
        if let colon = name.lastIndex(of: UInt8(ascii: ":")),
            name[name.index(after: colon)...].allSatisfy(\.isASCIIDigit)
        {
            name = name[..<colon]
        }
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") {
            return IPAddress(Substring(name.dropFirst().dropLast())).map { !$0.isIPv4 } ?? false
        }
        let text = String(Substring(name))
        return names.contains(ExactText(text.lowercasedASCII)) || IPAddress(text)?.isIPv4 == true
    }
}

/// A page with its media type.
public struct HTTPPage: Sendable {
    /// The media type of the body.
    public let contentType: String
    /// The bytes of the page.
    public let body: [UInt8]

    /// Makes a page.
    public init(contentType: String, body: [UInt8]) {
        self.contentType = contentType
        self.body = body
    }
}

/// A handler without its methods, for a listener that serves only pages.
public struct PagesOnly: CallHandler {
    private let handler: any CallHandler

    /// Hides the methods of a handler.
    public init(_ handler: any CallHandler) {
        self.handler = handler
    }

    /// No methods.
    public var methods: [MethodDescriptor] { [] }

    /// Answers that the method does not exist; no request is routed here.
    public func handle(_ call: Call) async -> Reply {
        Reply(
            decision: DecisionID(now: HostClock.system.now, randomness: .system),
            result: .failure(CallFailure(.notFound, "Method not found.")))
    }

    /// The revision of the handler's policies.
    public var revision: PolicyRevision? { handler.revision }

    /// The readiness of the handler.
    public var readiness: Readiness {
        get async { await handler.readiness }
    }

    /// The health of the handler's plugins.
    public var pluginHealth: [PluginHealth] { handler.pluginHealth }
}
