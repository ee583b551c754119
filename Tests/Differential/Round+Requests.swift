import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport

/// Random requests.
extension Round {
    /// A request with evidence for an app, which rarely is for something else.
    mutating func evidence(of app: AppPolicy) -> Request {
        let names = app.providers.map(\.name)
        let usesSketch = names.contains("sketch") && (!names.contains("notary") || values.random.happens(onceIn: 2))
        let evidence = evidence(of: app, by: usesSketch ? "sketch" : "notary")
        var method = usesSketch ? "exchangeSketch" : "exchangeNote"
        if values.random.happens(onceIn: 15) { method = values.random.pick(["exchangeSketch", "exchangeNote"]) }
        var resource = values.random.pick([app.identity.resource, app.alias ?? app.identity.resource])
        if values.random.happens(onceIn: 20) {
            resource = values.random.pick(["projects/9", "projects/1", "oauthClients/x", "nothing"])
        }
        return Request(evidence: evidence, method: method, resource: resource)
    }

    /// Evidence that says some of the facts that a provider tells.
    mutating func evidence(of app: AppPolicy, by provider: String) -> Request.Evidence {
        let share = values.random.pick([1, 2, 2, 4, 8])
        let known = NotaryProvider.facts.filter { provider == "notary" || $0.0 == NotaryProvider.label }
        let facts = known.compactMap { name, possible in
            values.random.happens(onceIn: share) ? JSONMember(name.text, values.random.pick(possible)) : nil
        }
        return Request.Evidence(
            provider: provider, app: app.identity.subject, facts: facts,
            isForLimitedUse: values.random.happens(onceIn: 3))
    }

    /// A request that does something with a token, or that a caller makes.
    mutating func request(about app: AppPolicy) -> Request {
        let project = app.identity.project
        let token =
            values.random.happens(onceIn: 8) ? nil : values.random.happens(onceIn: 4) ? tokens.first : tokens.last
        let text = token?.text ?? values.random.pick([nil, "nonsense"])
        switch Int.random(in: 0..<16, using: &values.random) {
        case 0...4: return proxied(token, text, project)
        case 5, 6: return protected(token, text, project)
        case 7...10:
            let (caller, credentials) = caller()
            return Request(
                Call(
                    "verifyAppCheckToken",
                    resource: values.random.pick(["projects/\(project.number)", "projects/\(project.id)"]),
                    body: ["appCheckToken": .string(text ?? "nothing")], credentials: credentials), caller: caller,
                token: token)
        case 11:
            let (caller, credentials) = caller()
            return Request(
                Call("mintAppCheckToken", resource: app.identity.resource, credentials: credentials), caller: caller)
        case 12, 13: return introspection(of: token, text, project)
        default: return administration(of: project, token)
        }
    }

    mutating func proxied(_ token: Request.Token?, _ text: String?, _ project: ProjectIdentity) -> Request {
        let number = values.random.happens(onceIn: 8) ? values.random.pick([1, 2]) : Int(project.number) ?? 1
        let backend = values.random.pick(RandomValues.backends(of: number) + ["none"])
        return Request(
            verb: values.random.pick(RandomValues.verbs + [RandomValues.otherVerb]),
            path: values.random.pick([
                "/payments/1", "/payments/2", "/payments", "/open", "/OPEN", "/else", "/payments//1", "/payments/1?x=1",
            ]), backend: values.random.happens(onceIn: 12) ? nil : backend, token: token, text: text)
    }

    /// A caller's question what a token is.
    private mutating func introspection(
        of token: Request.Token?, _ text: String?, _ project: ProjectIdentity
    ) -> Request {
        let (caller, credentials) = caller()
        var body: JSON = ["token": .string(text ?? "nothing")]
        if values.random.happens(onceIn: 2) {
            let resource = values.random.pick(["projects/\(project.number)", "projects/\(project.id)"])
            return Request(
                Call("introspectProjectToken", resource: resource, body: body, credentials: credentials),
                caller: caller, token: token)
        }
        if values.random.happens(onceIn: 2) {
            let number = values.random.happens(onceIn: 8) ? 3 : Int(project.number) ?? 1
            body = body.with("audience", .string(RandomValues.authorizationServer(of: number)))
        }
        return Request(Call("introspectToken", body: body, credentials: credentials), caller: caller, token: token)
    }

    private mutating func protected(
        _ token: Request.Token?, _ text: String?, _ project: ProjectIdentity
    ) -> Request {
        let services = RandomValues.services + RandomValues.backends(of: Int(project.number) ?? 1)
        var request = ProtectedRequest(project: project.id, service: values.random.pick(services), token: text)
        if request.service == RandomValues.oauth2, values.random.happens(onceIn: 2) {
            request.oauthClient = "client-\(project.number)"
        }
        return Request(request, token: token)
    }

    private mutating func caller() -> (String?, BearerToken?) {
        let known = RandomValues.callers
        guard !values.random.happens(onceIn: 8) else { return (nil, BearerToken("unknown-token-0123456789")) }
        let name = values.random.happens(onceIn: 2) ? RandomValues.administrator : values.random.pick(known)
        let version = values.random.pick([0, 0, 1])
        // Of a token that is not one of the caller's, tools are told nothing.
        let isKnown = Self.has(name, version, served.old) || Self.hasEnded(name, served.old)
        return (isKnown ? name : nil, BearerToken(RandomValues.token(of: name, version)))
    }

    /// Whether a caller's token is one of a set of policies, and has not ended.
    static func has(_ caller: String, _ version: Int, _ policies: PolicySet) -> Bool {
        guard let section = policies.callers.first(where: { $0.name == caller })?.section.json else { return false }
        let hash = RandomValues.hash(of: caller, version)
        if let tokens = section["tokens"]?.array {
            return tokens.contains {
                $0["sha256"]?.string == hash && $0["expires"]?.string?.hasPrefix("2001") != true
            }
        }
        return section["sha256"]?.string == hash || section["token"] != nil && version == 0
    }

    /// Whether all tokens of a caller have ended, so that none is accepted.
    private static func hasEnded(_ caller: String, _ policies: PolicySet) -> Bool {
        let tokens = policies.callers.first { $0.name == caller }?.section.json["tokens"]?.array ?? []
        return !tokens.isEmpty && tokens.allSatisfy { $0["expires"]?.string?.hasPrefix("2001") == true }
    }

    /// What an administrator does to both servers.
    private mutating func administration(of project: ProjectIdentity, _ token: Request.Token?) -> Request {
        let resource = "projects/\(project.number)"
        let (method, body): (String, JSON)
        switch Int.random(in: 0..<6, using: &values.random) {
        case 0:
            let client = "//oauth2.googleapis.com/\(resource)/oauthClients/client-\(project.number)"
            method = "createResourcePolicy"
            body = [
                "serviceId": .string(RandomValues.oauth2),
                "resourcePolicy": [
                    "targetResource": .string(client),
                    "enforcementMode": .string(values.random.pick(["OFF", "UNENFORCED", "ENFORCED"])),
                ],
            ]
            edited.insert("\(resource)/\(RandomValues.oauth2)")
        case 1 where values.random.happens(onceIn: 2):
            let (name, possible) = values.random.pick(NotaryProvider.facts)
            let id = token.flatMap { Self.claims($0.text)?["jti"] }
            method = "createDenyEntry"
            let match = JSONMember(name.text, values.random.pick(possible))
            body = [
                "denyEntry": [
                    "match": id.flatMap { values.random.happens(onceIn: 2) ? ["jti": $0] : nil } ?? .object([match])
                ]
            ]
            hasServerDenials = true
        default:
            let backends = RandomValues.backends(of: Int(project.number) ?? 1)
            let service = values.random.pick(values.random.happens(onceIn: 3) ? RandomValues.services : backends)
            let levels = values.random.pick([
                ("OFF", "OFF"), ("UNENFORCED", "UNENFORCED"), ("ENFORCED", "OFF"), ("ENFORCED", "ENFORCED"),
            ])
            method = "updateService"
            body = [
                "serviceId": .string(service), "updateMask": "enforcementMode,replayProtection",
                "service": ["enforcementMode": .string(levels.0), "replayProtection": .string(levels.1)],
            ]
            edited.insert("\(resource)/\(service)")
        }
        let name = RandomValues.administrator
        return Request(
            Call(method, resource: resource, body: body, credentials: BearerToken(RandomValues.token(of: name, 0))),
            caller: name)
    }
}
