internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayYAML

/// `assay policy explain`.
struct PolicyExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain what would happen to a call, and which line says so; offline.",
        discussion: """
            Goes the way of a call: method, permission, resource, provider, rate limit, rules, token lifetime, and what \
            consumers and services do with the token. Each step begins with `+` when the call passes, `-` when it ends there, \
            `?` when it depends on what the call brings. Name the method, or the request by --route. To ask what a backend \
            behind a proxy demands of a request of its client, name that one by --request.

            With --format json, standard output has one JSON object a line: {"effect" (passes, stops, depends, note), "text", \
            "file", "line", "column"}.

            Exits with 0 when nothing in the policies stops the call, with 1 when something does, and with 2 for policies with \
            errors.

            Example: \(AssayProgram.current.name) policy explain --method exchangeAppAttestAttestation \
            --resource projects/example-project/apps/1:1234567890:ios:321abc456def7890

            Example: \(AssayProgram.current.name) policy explain --request 'POST /payments/1' --backend orders
            """)

    @Option(help: "The name of the method, as `methods` lists it.")
    var method: String?

    @Option(help: "The full name of the app, the OAuth client or the project; with --route, it is in the path.")
    var resource: String?

    @Option(
        help: ArgumentHelp(
            "A request in the place of the method, such as 'POST /v1/projects/1/apps/1:1:ios:a:exchangeDebugToken'.",
            valueName: "request"))
    var route: String?

    @Option(
        help: ArgumentHelp(
            "A request of a proxy's client, about which the proxy asks: 'POST /payments/1'.", valueName: "request"))
    var request: String?

    @Option(help: "The backend that --request is for; needed where there are several.")
    var backend: String?

    @Option(help: "The policy's name for the caller.")
    var caller: String?

    @Option(help: ArgumentHelp("The folder of policy files.", valueName: "folder"), completion: .directory)
    var policies = "policies"

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    func validate() throws {
        guard [method, route, request].compactMap(\.self).count == 1 else {
            throw ValidationError("Name the method with --method, or the request with --route or --request.")
        }
        guard backend == nil || request != nil else {
            throw ValidationError("--backend says what --request is for; with --route, it is in the path.")
        }
        guard method == nil || resource != nil else {
            throw ValidationError("Name the resource with --resource.")
        }
    }

    func run() async throws {
        try await CheckedPolicies.with(policies) { checked in
            let explanation = try checked.registry.explain(try call(checked.registry), in: checked.policies)
            for step in explanation.steps {
                switch format {
                case .text: try Terminal.say(step.line)
                case .json: try Terminal.say(String(decoding: step.json.encoded, as: UTF8.self))
                }
            }
            if explanation.isStopped { throw ExitCode.refused }
        }
    }

    /// The call that is meant.
    private func call(_ registry: Registry) throws -> ExplainedCall {
        if let request {
            guard let proxied = ProxiedCall(request, to: backend) else {
                Terminal.report(
                    "'\(EffectiveYAML.line(request))' is no request: write an HTTP method and a path, such as 'POST /payments/1'"
                )
                throw ExitCode.refused
            }
            guard let call = proxied.call(in: registry, on: resource ?? "", by: caller) else {
                Terminal.report("this program has no method that decides about requests of a proxy")
                throw ExitCode.refused
            }
            return call
        }
        guard let route else { return ExplainedCall(method ?? "", on: resource ?? "", by: caller) }
        let problem: String
        switch try RequestLine.find(route, in: registry.methods) {
        case .method(let name, let found, _, let fields):
            return ExplainedCall(name, on: found.isEmpty ? resource ?? "" : found, by: caller, fields: fields)
        case .page: problem = "is a page of the server itself, and no method"
        case .wrongVerb(let allowed): problem = "is known only for \(allowed.joined(separator: ", "))"
        case .unknown: problem = "leads to no method: 404"
        case .malformed: problem = "is no request: write an HTTP method and a path, such as 'GET /v1/jwks'"
        }
        Terminal.report("'\(EffectiveYAML.line(route))' \(problem)")
        throw ExitCode.refused
    }
}

extension CallExplanation.Step {
    fileprivate var line: String {
        let mark =
            switch effect {
            case .passes: "+"
            case .stops: "-"
            case .depends: "?"
            case .note: " "
            }
        return EffectiveYAML.line("\(mark) \(text)\(location.map { " (\($0))" } ?? "")")
    }

    fileprivate var json: JSON {
        [
            "effect": .string(effect.rawValue), "text": .string(text),
            "file": location.map { .string($0.file) } ?? .null,
            "line": location.map { .integer(Int64($0.line)) } ?? .null,
            "column": location.map { .integer(Int64($0.column)) } ?? .null,
        ]
    }
}
