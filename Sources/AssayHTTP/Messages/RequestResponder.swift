internal import AssayKit
internal import Logging
internal import NIOHTTP1

/// Turns requests into calls, and what the kernel says into replies.
struct RequestResponder: Sendable {
    let handler: any CallHandler
    let table: RouteTable
    let pages: HTTPPages
    let access: BrowserAccess
    let bodyLimit: Int
    let clock: HTTPClock
    let refusals: RefusalLog
    let metrics: HTTPMetrics

    /// - Parameter peer: the client's address, without the port.
    func reply(to input: HTTPInput, peer: String?) async -> HTTPReply {
        var reply: HTTPReply
        switch input.content {
        case .fault(let fault, let head):
            log(fault, request: head, peer: peer)
            reply = HTTPReply(fault)
            if let head {
                let outcome = table.find(head.method, head.target)
                reply.headers += access.headers(for: outcome, head.target, head.headers, table: table)
            }
        case .request(let head, let body):
            // Scripts may read refusals, too.
            var granted: [(name: String, value: String)] = []
            do throws(HTTPFault) {
                reply = try await answer(head, body: body, peer: peer, granting: &granted)
            } catch {
                log(error, request: head, peer: peer)
                reply = HTTPReply(error)
            }
            reply.headers += granted
        }
        reply.omitsBody = input.omitsBody
        reply.headers.append(("date", clock.date))
        reply.endsConnection = input.endsConnection
        reply.announcesKeepAlive = input.announcesKeepAlive
        return reply
    }

    /// What is sent in place of a reply that there is no room for.
    func reply(to fault: HTTPFault, in place: HTTPReply) -> HTTPReply {
        metrics.refused(fault.status)
        var reply = HTTPReply(fault)
        reply.headers.append(("date", clock.date))
        reply.omitsBody = place.omitsBody
        reply.endsConnection = place.endsConnection
        reply.announcesKeepAlive = place.announcesKeepAlive
        return reply
    }

    /// Counts and puts on record what never becomes a decision: a client that is answered so may be silent for a day.
    ///
    /// Without the query, where clients put API keys.
    private func log(_ fault: HTTPFault, request: RequestHead?, peer: String?) {
        metrics.refused(fault.status)
        refusals.refused(UInt(fault.status.code), peer: peer) { metadata(fault, request, peer: peer) }
    }

    private func metadata(_ fault: HTTPFault, _ request: RequestHead?, peer: String?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "status": .stringConvertible(fault.status.code), "detail": .stringConvertible(LogField(fault.message)),
        ]
        metadata["peer"] = peer.map { "\($0)" }
        if let request {
            let path = request.target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            // No parser lets other bytes pass in a request line; a log line must not depend on that.
            let shown = path.prefix(200).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
            metadata["verb"] = "\(String(decoding: request.method.utf8.prefix(40), as: UTF8.self))"
            metadata["path"] = "\(String(decoding: shown, as: UTF8.self))"
        }
        return metadata
    }

    private func answer(
        _ head: RequestHead, body: [UInt8], peer: String?, granting granted: inout [(name: String, value: String)]
    ) async throws(HTTPFault) -> HTTPReply {
        var (verb, target, body) = (head.method, head.target, body)
        let headers = head.headers
        if let override = try override(verb, headers) {
            // The query came as the body: it was too long for a request line.
            if override.isExactly("GET") || override.isExactly("DELETE") {
                guard body.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .invalid("The form is not valid.") }
                target += (target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + String(decoding: body, as: UTF8.self)
                body = []
            }
            verb = override
        }
        if verb.isExactly("OPTIONS"), let reply = access.preflight(target, headers, table: table) { return reply }
        let outcome = table.find(verb, target)
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
        switch match.endpoint {
        case .liveness:
            return HTTPReply(.ok, ["status": "ok"])
        case .readiness:
            // That it is not ready is an answer too, and not a refusal to answer.
            switch await readiness {
            case .ready where !pages.showsDetail, .degraded where !pages.showsDetail:
                return HTTPReply(.ok, ["status": "ok"])
            case .notReady where !pages.showsDetail:
                return HTTPReply(HTTPFault(.serviceUnavailable, "UNAVAILABLE", "The service is not ready."))
            case .ready: return HTTPReply(.ok, ["status": "ok"])
            case .degraded(let reason): return HTTPReply(.ok, ["status": "degraded", "reason": .string(reason)])
            case .notReady(let reason):
                return HTTPReply(HTTPFault(.serviceUnavailable, "UNAVAILABLE", reason))
            }
        case .metrics:
            guard let metrics = pages.metrics else { throw .unknownMethod }
            return HTTPReply(metrics(headers["accept"].joined(separator: ","))).selected(for: headers)
        case .method(let route):
            let call: Call
            do throws(HTTPFault) {
                call = try self.call(route, match, verb: head.method, target, headers, body, peer: peer)
            } catch {
                guard route.binding.errors == .oauth else { throw error }
                log(error, request: head, peer: peer)
                return HTTPReply(oauth: error)
            }
            let reply = render(await handler.handle(call), route)
            return switch route.audience {
            case .verifiers: reply.selected(for: headers, isTagged: true)
            case .administrators where route.rule.verb == .get: reply.selected(for: headers)
            case .administrators, .anybody, .callers: reply
            }
        }
    }

    /// What a request to a method calls.
    private func call(
        _ route: MethodRoute, _ match: RouteMatch, verb: String, _ target: String, _ headers: HTTPHeaders,
        _ body: [UInt8], peer: String?
    ) throws(HTTPFault) -> Call {
        let content: JSON?
        switch route.binding.body {
        case .ignored: content = nil
        case .json: content = route.rule.body == .none ? nil : try json(headers, body)
        case .form: content = try FormMessage.read(headers, body)
        }
        var message = try MessageAssembly(rule: route.rule, fields: match.fields, target: target).message(body: content)
        message = HeaderFields(route.binding).added(to: message, verb: verb, headers)
        return Call(
            route.name, version: route.rule.version, resource: match.resource, body: message, peer: peer,
            credentials: credentials(headers),
            token: route.takesToken ? PresentedToken(headers: headers, target: target) : nil)
    }

    private var readiness: Readiness {
        get async {
            var parts = [await handler.readiness]
            for check in pages.checks { parts.append(await check()) }
            return .combined(parts)
        }
    }

    /// The HTTP method that a client means whose own one is `POST` (`X-HTTP-Method-Override`, as Google's clients send it
    /// for what would be too long for a request line); nil when it says none.
    private func override(_ verb: String, _ headers: HTTPHeaders) throws(HTTPFault) -> String? {
        guard verb.isExactly("POST") else { return nil }
        let values = headers.members(of: "x-http-method-override")
        guard let value = values.first else { return nil }
        guard values.count == 1, let verb = HTTPRule.Verb(named: String(value)) else {
            throw .invalid("The header X-HTTP-Method-Override names no method that is known.")
        }
        return verb.rawValue
    }

    /// The bearer token of the header `Authorization`; nil when there is none, or something else.
    private func credentials(_ headers: HTTPHeaders) -> BearerToken? {
        let values = headers["authorization"]
        guard values.count == 1, let value = values.first, value.utf8.count <= BearerToken.byteLimit + 64,
            let space = value.firstIndex(ofASCII: " "),
            value[..<space].isExactlyIgnoringASCIICase("bearer")
        else { return nil }
        return BearerToken(String(decoding: value[space...].utf8.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self))
    }

    /// The body as a JSON object. No body at all is the empty message; a content type is not asked for.
    private func json(_ headers: HTTPHeaders, _ body: [UInt8]) throws(HTTPFault) -> JSON {
        let codings = headers.members(of: "content-encoding")
        guard codings.allSatisfy({ $0.isExactlyIgnoringASCIICase("identity") }) else { throw .compressed }
        if body.isEmpty { return [:] }
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(body, limits: JSON.Limits(bytes: bodyLimit))
        } catch {
            throw .invalid("The request body is not a JSON object: \(error).")
        }
        guard json.members != nil else { throw .invalid("The request body must be a JSON object.") }
        return json
    }

    private func render(_ answer: Reply, _ route: MethodRoute) -> HTTPReply {
        var reply =
            switch answer.result {
            case .success(let json):
                if let headers = route.binding.replyHeaders {
                    HTTPReply(headers, statusField: route.binding.statusField, of: json)
                } else {
                    HTTPReply(
                        .ok, json, cacheControl: route.audience == .verifiers ? "public, max-age=3600" : "no-store")
                }
            case .failure(let failure): HTTPReply(failure, decision: answer.decision, route)
            }
        // A header ends where a line does.
        if answer.decision.text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            reply.headers.append(("x-assay-decision", answer.decision.text))
        }
        return reply
    }
}
