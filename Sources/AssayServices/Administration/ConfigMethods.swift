internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// The methods of the resource that shows an app's settings for one provider, such as `appAttestConfig`.
///
/// Settings come from policy files, so `patch` changes nothing. It fails and names the file if the file has another
/// value. It succeeds if the file has the same value already, for tools that write every setting each time they run.
struct ConfigMethods: Sendable {
    let provider: String
    /// The last part of the resource's name.
    let resource: String
    /// The settings of an app without the provider: the defaults of Google's service.
    let standard: JSON

    private static let batchLimit = 100

    var all: [KernelMethod] {
        let word = resource.prefix(1).uppercasedASCII + resource.dropFirst()
        let get = MethodPath(.get, "/\(resource)")
        let update = MethodPath(.patch, "/\(resource)", body: .field("config"), query: ["updateMask"])
        let batchGet = MethodPath(.get, "/apps/-/\(resource):batchGet", query: ["names"])
        return [
            method("get\(word)", .app, get, [], AdministrationShapes.configReply) { call in
                .answered(message(try call.app()))
            },
            method(
                "update\(word)", .app, update, AdministrationShapes.update("config", AdministrationShapes.config),
                AdministrationShapes.configReply
            ) { call in
                .answered(try self.update(call))
            },
            method(
                "batchGet\(word)s", .project, batchGet,
                [.optional("names", .list(.text, atMost: ConfigMethods.batchLimit))],
                // Without names, the reply has every app that the provider is set up for.
                [.optional("configs", .list(.message(AdministrationShapes.configReply), atMost: .max))]
            ) { call in
                .answered(try self.batchGet(call))
            },
        ]
    }

    private func method(
        _ name: String, _ kind: ResourceKind, _ path: MethodPath, _ request: MessageShape, _ reply: MessageShape,
        _ answer: @escaping @Sendable (KernelCall) async throws -> CallOutcome
    ) -> KernelMethod {
        KernelMethod(
            MethodDescriptor(name: name, kind: .call(.admin), resources: [kind], path: path)
                .with(request: request, reply: reply),
            answer: answer)
    }

    private func message(_ app: AppBinding) -> JSON {
        let name = JSONMember("name", .string("\(app.identity.resource)/\(resource)"))
        guard let settings = app.providers[provider] else { return .object([name] + (standard.members ?? [])) }
        let lifetime = JSONMember("tokenTtl", .string("\(settings.tokenLifetime.wholeSeconds)s"))
        return .object([name, lifetime] + settings.config.map { JSONMember($0.name, $0.value) })
    }

    private func update(_ call: KernelCall) throws -> JSON {
        let app = try call.app()
        guard let mask = try call.fields.fieldMask() else { throw InvalidRequest("the field 'updateMask' is missing") }
        let config = try call.fields.message("config") ?? RequestFields([:])
        let present = message(app)
        let known = (present.members ?? []).map(\.name).filter { !$0.isExactly("name") }
        for path in mask.isEverything ? known : mask.paths where !path.isExactly("name") {
            guard try isSame(path.split(onASCII: ".").map(String.init)[...], in: config, as: present) else {
                let location = app.providers[provider]?.location ?? app.location
                throw CallFailure(
                    .failedPrecondition,
                    provider.isEmpty
                        ? "This server has no provider with a \(resource)."
                        : "The \(resource) of \(app.identity.resource) comes from a policy file: change it at \(location)."
                )
            }
        }
        return present
    }

    /// Whether a field of an update has the present value; an absent field means the default.
    ///
    /// - Parameter path: the field's name, after those of the messages that it is in.
    private func isSame(_ path: ArraySlice<String>, in config: RequestFields, as message: JSON) throws -> Bool {
        guard let name = path.first, let present = message[name] else { return false }
        let rest = path.dropFirst()
        if let members = present.members {
            let part = try config.message(name) ?? RequestFields([:])
            guard rest.isEmpty else { return try isSame(rest, in: part, as: present) }
            return try members.allSatisfy { try isSame([$0.name], in: part, as: present) }
        }
        guard rest.isEmpty else { return false }
        switch present {
        case .string(let text) where name.isExactly("tokenTtl"):
            let asked = try config.duration(name) ?? RequestFields(standard).duration(name)
            guard let asked, let lifetime = TokenLifetime.asked(asked) else {
                throw InvalidRequest("the field 'tokenTtl' must be from 1800s to 604800s")
            }
            return text.isExactly("\(lifetime.wholeSeconds)s")
        case .string(let text): return (try config.optionalString(name) ?? "").isExactly(text)
        case .bool(let value): return try config.bool(name) == value
        // The numbers of Google's resources are scores, with this default.
        case .integer, .number: return (try config.json(name) ?? .number(0.5)).number == present.number
        default: return false
        }
    }

    private func batchGet(_ call: KernelCall) throws -> JSON {
        let project = try call.project()
        let names = try call.fields.strings("names")
        guard names.count <= ConfigMethods.batchLimit else {
            throw InvalidRequest("at most \(ConfigMethods.batchLimit) names are accepted")
        }
        var apps: [AppBinding] = []
        for name in names { apps.append(try app(name, of: project, in: call.policies)) }
        if names.isEmpty {
            apps = project.apps.values.filter { $0.identity.kind == .app && $0.providers[provider] != nil }
                .sorted { $0.identity.resource.precedesExactly($1.identity.resource) }
        }
        return apps.isEmpty ? [:] : ["configs": .array(apps.map(message))]
    }

    /// The app whose settings a name means; it must belong to the project of the call.
    private func app(_ name: String, of project: ProjectBinding, in policies: BoundPolicies) throws -> AppBinding {
        let suffix = "/\(resource)"
        guard name.utf8.count <= 1024, name.ends(withExactly: suffix) else {
            throw InvalidRequest("a name must be projects/*/apps/*/\(resource)")
        }
        let appName = String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
        let parts = appName.split(onASCII: "/", maxSplits: 4)
        guard parts.count == 4 else { throw InvalidRequest("a name must be projects/*/apps/*/\(resource)") }
        try ResourceName.check(appName)
        let (parent, id) = (String(parts[1]), String(parts[3]))
        guard parent.isExactly(project.identity.number) || parent.isExactly(project.identity.id) else {
            throw InvalidRequest("all names must be of the project that the request is about")
        }
        guard let app = project.apps[id], app.identity.kind == .app else { throw CallFailure.notFound }
        return app
    }
}
