internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools
internal import AssayYAML

/// The plugins of a program, with their uses in policies and their health in a server where these are asked for.
struct PluginList {
    /// A plugin with what is known of it.
    struct Entry {
        let plugin: PluginSummary
        /// Who uses it; nil when no policies were read.
        let uses: [PluginUse]?
        /// Its health in the server; nil when no server was asked, or when the server does not have it.
        let health: PluginHealth?
        let wasAsked: Bool
    }

    let entries: [Entry]
    /// What the server has and this program does not.
    let others: [PluginHealth]

    init(plugins: [PluginSummary], uses: [PluginUse]? = nil, health: [PluginHealth]? = nil) {
        entries = plugins.map { plugin in
            Entry(
                plugin: plugin,
                uses: uses?.filter { $0.kind == plugin.kind && $0.plugin.isExactly(plugin.name) },
                health: health?.first { $0.kind == plugin.kind && $0.name.isExactly(plugin.name) },
                wasAsked: health != nil)
        }
        others = (health ?? []).filter { server in
            !plugins.contains { $0.kind == server.kind && $0.name.isExactly(server.name) }
        }
    }

    /// The list for people: a heading for each plugin, and indented lines below it.
    var lines: [String] {
        var lines: [String] = []
        for entry in entries {
            if !lines.isEmpty { lines.append("") }
            lines.append(entry.heading)
            lines += entry.details.map { "  \($0)" }
        }
        for other in others {
            lines += ["", "\(other.kind.rawValue) \(other.name)", "  in the server only: \(other.text)"]
        }
        return lines
    }
}

extension PluginList.Entry {
    /// `provider app_attest 0.3.0, stable, contract 2`.
    fileprivate var heading: String {
        let name = "\(plugin.kind.rawValue) \(plugin.name)"
        let version = plugin.version.isEmpty ? name : "\(name) \(plugin.version)"
        if let descriptor = plugin.descriptor {
            return "\(version), \(descriptor.stability.rawValue), contract \(descriptor.contract)"
        }
        guard let storage = plugin.storage else { return version }
        return "\(version), \(storage.stability.rawValue), contract \(storage.contract)"
    }

    fileprivate var details: [String] {
        var lines: [String] = []
        if let reason = plugin.unavailable { lines.append("unavailable: \(reason)") }
        if let descriptor = plugin.descriptor {
            lines.append(descriptor.summary)
            lines += descriptor.posture?.lines(proves: "proves") ?? []
            if !plugin.methods.isEmpty {
                lines.append("methods: \(plugin.methods.map(\.name).joined(separator: ", "))")
            }
            lines.append("reasons: \(descriptor.reasons.count)")
            if !descriptor.facts.isEmpty {
                lines.append("facts: \(descriptor.facts.map(\.typedText).joined(separator: ", "))")
            }
            if !descriptor.tokenTypes.isEmpty {
                lines.append("signs tokens of the types: \(descriptor.tokenTypes.joined(separator: ", "))")
            }
            lines.append("limits: \(descriptor.limits.text)")
            lines.append("threads: \(descriptor.execution == .shared ? "shared" : "its own")")
            if descriptor.isForDevelopment { lines.append("for development only") }
        }
        if let storage = plugin.storage {
            lines.append(storage.summary)
            lines += storage.posture?.lines(proves: "protects") ?? []
            lines.append("written as: \(storage.scheme):\(storage.location)")
            lines.append("what was written survives: \(storage.survival.text)")
            lines.append("one location is for: \(storage.sharing.text)")
        }
        if let uses, plugin.kind.isNamedInPolicies {
            if uses.isEmpty { lines.append("used by: nobody") }
            for use in uses { lines.append("used by: \(use.resource), \(use.text)") }
        }
        if wasAsked { lines.append("in the server: \(health?.text ?? "missing")") }
        return lines + plugin.warnings.map { "warning: \($0)" }
    }
}

extension SecurityPosture {
    fileprivate func lines(proves: String) -> [String] {
        ["\(proves): \(self.proves)", "trusts: \(trusts.isEmpty ? "nobody" : trusts.joined(separator: "; "))"]
    }
}

extension StorageSurvival {
    fileprivate var text: String {
        switch self {
        case .nothing: "nothing, it ends with the process"
        case .processEnd: "the end of the process"
        case .powerLoss: "a loss of power"
        case .machineLoss: "the loss of the machine"
        }
    }
}

extension StorageSharing {
    fileprivate var text: String {
        switch self {
        case .process: "one process"
        case .machine: "the processes of one machine"
        case .servers: "servers on several machines"
        }
    }
}

extension PluginKind {
    /// Whether policies name the plugins of this kind; stores, sinks and vaults are chosen by options.
    fileprivate var isNamedInPolicies: Bool {
        switch self {
        case .provider, .consumer: true
        case .store, .sink, .vault: false
        }
    }
}

extension PluginUse {
    /// `ready`, or what prevents an instance, with its place.
    var text: String {
        guard let problem else { return "ready" }
        let place = problem.location?.description ?? problem.file
        return [place, problem.path, problem.message].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

extension PluginHealth {
    /// The summary with the version.
    fileprivate var text: String { version.isEmpty ? summary : "\(summary), version \(version)" }
}

extension FactName {
    /// `os_version (version)`, or `key_id (digest, identifies the attester)`.
    fileprivate var typedText: String {
        var type = self.type.name
        if case .words(let words) = self.type { type = words.map(\.string).joined(separator: "|") }
        return "\(text) (\(type)\(identifiesAttester ? ", identifies the attester" : ""))"
    }
}

extension PluginLimits {
    fileprivate var text: String {
        [
            "\(evidence) bytes of evidence", "\(reply) bytes of reply", time.map { "\($0)" } ?? "the engine's time",
            "\(cpuTime) of CPU time", "\(concurrentCalls) calls at a time", "\(outboundCalls) calls to other servers",
            "\(storeWrites) writes to the store",
        ].joined(separator: ", ")
    }
}
