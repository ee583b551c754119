internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayYAML
internal import Logging

/// Makes a plugin in another process one for the kernel.
struct ProcessPlugin: Sendable {
    let process: PluginProcess
    let description: PluginProcess.Description
    /// Whether sections are only checked: then no instance is made in the process.
    let checksOnly: Bool

    /// The plugin for a registry.
    ///
    /// - Throws: `PluginProcess.Unavailable` for a description that no plugin can have; the registry checks the rest.
    func plugin() throws -> Plugin {
        let descriptor = try PluginDescriptor(description)
        let methods = try description.methods.map { try MethodDescriptor($0, of: description.kind) }
        let section = try DeclaredShape(description.keys, depth: 0)
        let plugin: Plugin =
            description.kind == .provider
            ? .provider(
                RemoteProvider(descriptor: descriptor, methods: methods, section: section) {
                    (section, app, host) throws(ConfigurationError) in try provider(section, app, host)
                })
            : .consumer(
                RemoteConsumer(descriptor: descriptor, methods: methods, section: section) {
                    (section, scope, host) throws(ConfigurationError) in try consumer(section, scope, host)
                })
        return plugin.checkingHealth { [process] in process.failure }
    }

    // MARK: - Instances

    private func provider(
        _ section: JSON, _ app: AppIdentity, _ host: PluginHost
    ) throws(ConfigurationError) -> RemoteProvider.Instance {
        let (instance, warnings, _) = try configure(section, app: app.resource, app.project, host)
        let actions = description.methods.map { method -> (ExactText, RemoteAction) in
            let action: RemoteAction =
                switch method.kind {
                case .challenge: .challenge
                case .exchange: .exchange { (fields) throws(InvalidRequest) in try instance.exchange(method, fields) }
                default: .call { (fields) throws(InvalidRequest) in try instance.call(method, fields) }
                }
            return (ExactText(method.name), action)
        }
        return RemoteProvider.Instance(
            answers: Dictionary(actions, uniquingKeysWith: { first, _ in first }), maintenance: maintenance(instance),
            warnings: warnings)
    }

    private func consumer(
        _ section: JSON, _ scope: ConsumerScope, _ host: PluginHost
    ) throws(ConfigurationError) -> RemoteConsumer.Instance {
        let (instance, warnings, audiences) = try configure(section, app: "", scope.project, host)
        let answers = description.methods.map {
            method -> (ExactText, @Sendable (RequestFields) throws -> PreparedRequest) in
            (ExactText(method.name), { fields in try instance.redeem(method, fields) })
        }
        return RemoteConsumer.Instance(
            audiences: audiences, answers: Dictionary(answers, uniquingKeysWith: { first, _ in first }),
            maintenance: maintenance(instance), warnings: warnings)
    }

    private func maintenance(_ instance: RemoteInstance) -> Maintenance? {
        guard description.maintenanceSeconds > 0 else { return nil }
        return Maintenance(every: .seconds(Int64(description.maintenanceSeconds))) { context in
            try await instance.maintain(context)
        }
    }

    private func configure(
        _ section: JSON, app: String, _ project: ProjectIdentity, _ host: PluginHost
    ) throws(ConfigurationError) -> (RemoteInstance, [ConfigurationWarning], audiences: [String]) {
        var request = PluginProcess.Section()
        request.section = String(decoding: section.encoded, as: UTF8.self)
        request.app = app
        request.projectNumber = project.number
        request.projectID = project.id
        let reply: Assay_Plugin_V1_ConfigureResponse
        let number: UInt64
        do {
            (reply, number) = try process.configure(request, keeps: !checksOnly)
        } catch {
            throw ConfigurationError(HostService.line("\(error)"))
        }
        var problems = ConfigurationProblems()
        for error in reply.errors.prefix(100) { problems.report(at: error.components, error.text) }
        if reply.audiences.count > 64 || reply.audiences.contains(where: { $0.utf8.count > 1024 }) {
            problems.report("the plugin names over 64 audiences, or one of over 1024 bytes")
            if !checksOnly { process.release(number) }
        }
        try problems.throwIfAny()
        let instance = RemoteInstance(
            number, of: process, host, isKept: !checksOnly, secrets: section.secrets(by: description.keys))
        return (
            instance, reply.warnings.prefix(100).map { ConfigurationWarning(at: $0.components, $0.text) },
            reply.audiences
        )
    }
}

extension Assay_Plugin_V1_Problem {
    fileprivate var components: [ConfigurationError.Component] {
        path.prefix(16).map { part in Int(part).map { .index($0) } ?? .key(HostService.line(part, limit: 128)) }
    }

    fileprivate var text: String { message.isEmpty ? "is not accepted" : HostService.line(message) }
}

extension JSON {
    /// The references to secrets in a section.
    fileprivate func secrets(by keys: [Assay_Plugin_V1_Key]) -> Set<SecretReference> {
        var found: Set<SecretReference> = []
        for key in keys {
            guard let value = self[key.name] else { continue }
            for value in value.array ?? [value] {
                switch key.kind {
                case .secret:
                    if let reference = value.string.flatMap({ SecretReference($0) }) { found.insert(reference) }
                case .mapping: found.formUnion(value.secrets(by: key.keys))
                default: break
                }
            }
        }
        return found
    }
}
