public import AssayCore
public import AssayKit
public import Logging

/// Serves the methods of a `CallHandler` over HTTP in any server: turns a request into a call, and the handler's
/// answer into a reply.
///
///     let gateway = try HTTPGateway(handler: engine, logger: logger)
///     let reply = await gateway.reply(
///         to: GatewayRequest(method: "GET", target: "/v1/jwks"), peer: "192.0.2.1")
///
/// It finds methods by the rules that they declare, reads forms and JSON, tells browsers what their scripts may read,
/// and makes the bodies of errors. It depends on no server: the server that uses it reads requests, limits their size
/// and time, and sends the replies.
public struct HTTPGateway: Sendable {
    /// The limits and permissions of a gateway for strangers.
    public struct Configuration: Sendable {
        /// The largest request body by default: 64 KiB.
        public static let defaultBodyBytes = 65_536

        /// The web pages whose scripts may call methods that demand no permission.
        public var origins: AllowedOrigins
        /// The proxies whose `X-Forwarded-For` names the client; none by default, since a client can send that header
        /// itself.
        public var trustedProxies: TrustedProxies
        /// The largest request body, in bytes; a larger one is answered with 413.
        ///
        /// A server stops reading at this size.
        public var bodyBytes: Int
        /// How many of the requests that never become calls are logged one by one.
        public var records: RecordLimits

        /// Makes a configuration; by default, scripts of any origin, no proxies, and bodies of 64 KiB.
        public init(
            origins: AllowedOrigins = .any, trustedProxies: TrustedProxies = .none, bodyBytes: Int = defaultBodyBytes,
            records: RecordLimits = RecordLimits()
        ) {
            self.origins = origins
            self.trustedProxies = trustedProxies
            self.bodyBytes = bodyBytes
            self.records = records
        }
    }

    private let handler: any CallHandler
    private let table: RouteTable
    private let pages: HTTPPages
    private let access: BrowserAccess
    private let bodyLimit: Int
    private let proxies: TrustedProxies
    private let refusals: RefusalLog
    private let metrics: GatewayMetrics

    /// Makes a gateway for a handler.
    ///
    /// - `pages`: the pages that are served in addition to the handler's methods.
    /// - `logger`: receives one line for each request that never becomes a call, up to a rate.
    /// - `meter`: counts refused requests.
    /// - Throws: ``HTTPGatewayError`` when the handler's methods cannot be routed.
    public init(
        handler: any CallHandler, pages: HTTPPages = .health, configuration: Configuration = Configuration(),
        logger: Logger, meter: Meter = .none
    ) throws(HTTPGatewayError) {
        self.handler = handler
        self.pages = pages
        table = try RouteTable(methods: handler.methods, pages: pages)
        access = BrowserAccess(origins: configuration.origins)
        bodyLimit = configuration.bodyBytes
        proxies = configuration.trustedProxies
        refusals = RefusalLog(logger, limits: configuration.records)
        metrics = GatewayMetrics(meter)
    }

    /// Answers a request.
    ///
    /// - `peer`: the address that the connection comes from, without a port; nil if it has none, as over a Unix
    ///   socket. If it is a trusted proxy's, the client's address is read from the request.
    public func reply(to request: GatewayRequest, peer: String?) async -> HTTPReply {
        let peer = client(request, peer)
        var reply: HTTPReply
        // Scripts may read refusals as well.
        var granted = HeaderFields()
        do throws(HTTPFault) {
            reply = try await answer(request, peer: peer, granting: &granted)
        } catch {
            record(error, of: request, peer: peer)
            reply = HTTPReply(error)
        }
        reply.headers += granted
        return reply
    }

    /// Answers a request that cannot be a call: counts it, logs it, and tells the client what is wrong.
    ///
    /// - `request`: the known part of the request; nil when nothing is known.
    /// - `peer`: as in ``reply(to:peer:)``.
    public func reply(to fault: HTTPFault, of request: GatewayRequest?, peer: String?) -> HTTPReply {
        record(fault, of: request, peer: client(request, peer))
        guard let request else { return HTTPReply(fault) }
        return refusal(fault, of: request, route(of: request))
    }

    /// The reply to a request that comes while the server cannot keep up; nil for one of a page for operators, which is
    /// answered anyway.
    ///
    /// It is counted but not logged: a server that is overloaded saves its work for others.
    public func replyWhileBusy(to request: GatewayRequest) -> HTTPReply? {
        let outcome = route(of: request)
        if case .found(let match) = outcome, match.endpoint.isPage { return nil }
        metrics.shed()
        return refusal(.busy, of: request, outcome)
    }

    /// The reply that a server sends when it has no room for the real one.
    ///
    /// It is counted but not logged: the decision was logged.
    public func replyWithoutRoom() -> HTTPReply {
        metrics.refused(HTTPFault.overloaded.status)
        return HTTPReply(.overloaded)
    }

    /// Looks up what a request's method and target lead to, so that no later step has to.
    ///
    /// Returns whether its body is neither waited for nor read, as when a proxy asks about a request and keeps its body.
    public func routeHead(_ request: inout GatewayRequest) -> Bool {
        let route = table.find(request.method, request.target)
        request.route = route
        guard case .found(let match) = route, case .method(let method) = match.endpoint else { return false }
        return method.binding.body == .ignored
    }

    private func route(of request: GatewayRequest) -> RouteTable.Outcome {
        request.route ?? table.find(request.method, request.target)
    }

    /// Whether a peer is one of the trusted proxies, behind which many clients are.
    public func trusts(_ peer: String?) -> Bool {
        proxies.trust(peer)
    }

    /// Logs the sums of refused requests regularly, until the task is cancelled.
    public func run() async {
        await refusals.run()
    }

    /// The address of the client that sent a request, also behind a trusted proxy; nil if it has none.
    package func client(_ request: GatewayRequest?, _ peer: String?) -> String? {
        proxies.trust(peer) ? proxies.client(request?.headers, behind: peer) : peer
    }

    // MARK: - Refusals

    /// Counts and logs a request that never becomes a decision: a client with such an answer may make no further
    /// request for a day.
    ///
    /// Without the query, because clients put API keys there.
    private func record(_ fault: HTTPFault, of request: GatewayRequest?, peer: String?) {
        metrics.refused(fault.status)
        refusals.refused(UInt(fault.status.code), peer: peer) { metadata(fault, request, peer: peer) }
    }

    /// Scripts may read refusals as well.
    private func refusal(
        _ fault: HTTPFault, of request: GatewayRequest, _ outcome: RouteTable.Outcome
    ) -> HTTPReply {
        var reply = HTTPReply(fault)
        reply.headers += access.headers(for: outcome, request.target, request.headers, table: table)
        return reply
    }

    private func metadata(_ fault: HTTPFault, _ request: GatewayRequest?, peer: String?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "status": .stringConvertible(fault.status.code), "detail": .stringConvertible(LogField(fault.message)),
        ]
        metadata["peer"] = peer.map { "\($0)" }
        if let request {
            let path = request.target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            // No parser allows other bytes in a request line; a log line must not depend on that.
            let shown = path.prefix(200).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
            metadata["verb"] = "\(String(decoding: request.method.utf8.prefix(40), as: UTF8.self))"
            metadata["path"] = "\(String(decoding: shown, as: UTF8.self))"
        }
        return metadata
    }

    // MARK: - Requests

    private nonisolated(nonsending) func answer(
        _ request: GatewayRequest, peer: String?, granting granted: inout HeaderFields
    ) async throws(HTTPFault) -> HTTPReply {
        var (verb, target, body) = (request.method, request.target, request.body)
        var route = request.route
        let headers = request.headers
        if let override = try override(verb, headers) {
            // The query came as the body, because it was too long for a request line.
            if override.isExactly("GET") || override.isExactly("DELETE") {
                guard body.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .invalid("The form is invalid.") }
                target += (target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + String(decoding: body, as: UTF8.self)
                body = []
            }
            verb = override
            route = nil
        }
        if verb.isExactly("OPTIONS"), let reply = access.preflight(target, headers, table: table) { return reply }
        let outcome = route ?? table.find(verb, target)
        granted = access.headers(for: outcome, target, headers, table: table)
        let match: RouteMatch
        switch outcome {
        case .malformed:
            throw .malformedPath
        case .unknown:
            throw .unknownMethod
        case .wrongVerb(let allowed):
            let names = allowed.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }
            throw .wrongVerb(allowed: names.joined(separator: ", "))
        case .found(let found):
            match = found
        }
        if match.endpoint.hasDetails, let hosts = pages.hosts, !hosts.accepts(request) { throw .foreignHost }
        switch match.endpoint {
        case .liveness:
            return HTTPReply(.ok, ["status": "ok"])
        case .readiness:
            return await readinessPage
        case .plugins:
            return HTTPReply(.ok, ["plugins": .array(handler.pluginHealth.map(\.json))])
        case .metrics:
            guard let metrics = pages.metrics else { throw .unknownMethod }
            return HTTPReply(metrics(headers["accept"].joined(separator: ","))).selected(for: headers)
        case .method(let route):
            let call: Call
            do throws(HTTPFault) {
                call = try self.call(route, match, verb: request.method, target, headers, body, peer: peer)
            } catch {
                guard route.binding.errors == .oauth else { throw error }
                record(error, of: request, peer: peer)
                return HTTPReply(oauth: error)
            }
            let reply = render(await handler.handle(call), route)
            return switch route.audience {
            case .verifiers: reply.selected(for: headers, isTagged: true)
            case .administrators where route.rule.verb == .get: reply.selected(for: headers)
            case .administrators, .anyone, .callers: reply
            }
        }
    }

    /// Makes the call of a request to a method.
    private func call(
        _ route: HTTPRoute, _ match: RouteMatch, verb: String, _ target: String, _ headers: HeaderFields,
        _ body: [UInt8], peer: String?
    ) throws(HTTPFault) -> Call {
        let content: JSON?
        switch route.binding.body {
        case .ignored: content = nil
        case .json: content = route.rule.body == .none ? nil : try json(headers, body)
        case .form:
            guard body.count <= bodyLimit else { throw .bodyTooLarge(limit: bodyLimit) }
            content = try FormMessage.read(headers, body)
        }
        var message = try MessageAssembly(route: route, fields: match.fields, target: target).message(body: content)
        message = message.adding(route.binding, verb: verb, headers)
        return Call(
            route.name, version: route.rule.version, resource: match.resource, body: message, peer: peer,
            credentials: credentials(headers),
            token: route.takesToken ? PresentedToken(headers: headers, target: target) : nil, route: route.text)
    }

    /// A page that reports "not ready" is a normal answer, not a refusal.
    private var readinessPage: HTTPReply {
        get async {
            var parts = [await handler.readiness]
            for check in pages.checks { parts.append(await check()) }
            let readiness = Readiness.combined(parts)
            guard pages.showsDetail else {
                guard case .notReady = readiness else { return HTTPReply(.ok, ["status": "ok"]) }
                return HTTPReply(HTTPFault(.serviceUnavailable, "UNAVAILABLE", "The service is not ready."))
            }
            let plugins = handler.pluginHealth.filter { $0.state != .ready }
            return HTTPReply(
                readiness, plugins: plugins, notes: pages.notes.compactMap { $0() }, revision: handler.revision)
        }
    }

    /// The HTTP method that a client means with `X-HTTP-Method-Override` in a `POST` (as Google's clients send it if
    /// the request line would be too long); nil when it names none.
    private func override(_ verb: String, _ headers: HeaderFields) throws(HTTPFault) -> String? {
        guard verb.isExactly("POST") else { return nil }
        let values = headers.members(of: "x-http-method-override")
        guard let value = values.first else { return nil }
        guard values.count == 1, let verb = HTTPRule.Verb(named: String(value)) else {
            throw .invalid("The header X-HTTP-Method-Override names an unknown method.")
        }
        return verb.rawValue
    }

    /// The bearer token of the header `Authorization`; nil when it is missing or has another scheme.
    private func credentials(_ headers: HeaderFields) -> BearerToken? {
        let values = headers["authorization"]
        guard values.count == 1, let value = values.first, value.utf8.count <= BearerToken.byteLimit + 64,
            let space = value.firstIndex(ofASCII: " "),
            value[..<space].isExactlyIgnoringASCIICase("bearer")
        else { return nil }
        return BearerToken(String(decoding: value[space...].utf8.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self))
    }

    /// The body as a JSON object.
    ///
    /// An empty body is the empty message; the content type is not checked.
    private func json(_ headers: HeaderFields, _ body: [UInt8]) throws(HTTPFault) -> JSON {
        let codings = headers.members(of: "content-encoding")
        guard codings.allSatisfy({ $0.isExactlyIgnoringASCIICase("identity") }) else { throw .compressed }
        if body.isEmpty { return [:] }
        guard body.count <= bodyLimit else { throw .bodyTooLarge(limit: bodyLimit) }
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(body, limits: JSON.Limits(bytes: bodyLimit))
        } catch {
            throw .invalid("The request body is not a JSON object: \(error).")
        }
        guard json.members != nil else { throw .invalid("The request body must be a JSON object.") }
        return json
    }

    private func render(_ answer: Reply, _ route: HTTPRoute) -> HTTPReply {
        var reply =
            switch answer.result {
            case .success(let json):
                if let headers = route.binding.replyHeaders {
                    HTTPReply(headers, statusField: route.binding.statusField, of: json)
                } else {
                    HTTPReply(
                        .ok, json,
                        cacheControl: route.audience == .verifiers
                            ? "public, max-age=\(max(answer.lifetime ?? .seconds(3600), .zero).wholeSeconds)"
                            : "no-store")
                }
            case .failure(let failure): HTTPReply(failure, decision: answer.decision, route)
            }
        // A line break would end the header.
        if answer.decision.text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            reply.headers.append(("x-assay-decision", answer.decision.text))
        }
        return reply
    }
}

/// The reason why a handler's methods cannot be served over HTTP.
public struct HTTPGatewayError: Error, Sendable, CustomStringConvertible {
    /// The kind of problem.
    @nonexhaustive public enum Code: String, Sendable {
        /// A method's HTTP rule is not a template for routing.
        case invalidRule = "invalid_rule"
        /// Two methods have the same HTTP rule.
        case conflictingRules = "conflicting_rules"
    }

    /// The kind of problem.
    public let code: Code
    /// What is wrong, for an operator.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// The metrics of a gateway.
struct GatewayMetrics: Sendable {
    static let refusals = Metric.counter(
        "http_requests_refused_total", "HTTP requests refused before any decision.",
        labels: [
            .init("status", ["400", "404", "405", "408", "413", "415", "429", "431", "501", "503"])
        ])

    static let shed = Metric.counter(
        "http_requests_shed_total",
        "HTTP requests refused because the server could not keep up; http_requests_refused_total counts them, too.")

    private let meter: Meter

    init(_ meter: Meter) {
        self.meter = meter
    }

    func shed() {
        meter.add(to: GatewayMetrics.shed)
        refused(HTTPFault.busy.status)
    }

    func refused(_ status: HTTPStatus) {
        meter.add(to: GatewayMetrics.refusals, String(status.code))
    }
}
