internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools
internal import AssayYAML

extension PluginList {
    /// The list for programs: `{"plugins": […]}`; a member without a value is null.
    var json: JSON {
        var members = [JSONMember("plugins", .array(entries.map(\.json)))]
        if !others.isEmpty { members.append(JSONMember("in_server_only", .array(others.map(\.json)))) }
        return .object(members)
    }
}

extension PluginList.Entry {
    fileprivate var json: JSON {
        var members = [
            JSONMember("kind", .string(plugin.kind.rawValue)), JSONMember("name", .string(plugin.name)),
            JSONMember("unavailable", text(plugin.unavailable)), JSONMember("warnings", texts(plugin.warnings)),
        ]
        if let descriptor = plugin.descriptor { members += declared(descriptor) }
        if let storage = plugin.storage { members += declared(storage) }
        if let uses { members.append(JSONMember("uses", .array(uses.map(\.json)))) }
        if wasAsked { members.append(JSONMember("server", health?.json ?? .null)) }
        return .object(members)
    }

    private func declared(_ descriptor: PluginDescriptor) -> [JSONMember] {
        [
            JSONMember("version", .string(descriptor.version)),
            JSONMember("contract", .integer(Int64(descriptor.contract))),
            JSONMember("summary", .string(descriptor.summary)),
            JSONMember("stability", .string(descriptor.stability.rawValue)),
            JSONMember("proves", text(descriptor.posture?.proves)),
            JSONMember("trusts", descriptor.posture.map { texts($0.trusts) } ?? .null),
            JSONMember(
                "methods",
                .array(
                    plugin.methods.map { method in
                        ["name": .string(method.name), "http": texts(method.rules.map(\.description))]
                    })),
            JSONMember("reasons", texts(descriptor.reasons.map(\.code))),
            JSONMember("facts", .array(descriptor.facts.map(\.json))),
            JSONMember("metrics", texts(descriptor.metrics.map { "assay_\(descriptor.name)_\($0.name)" })),
            JSONMember("token_types", texts(descriptor.tokenTypes)),
            JSONMember("limits", descriptor.limits.json),
            JSONMember("execution", .string(descriptor.execution == .shared ? "shared" : "isolated")),
            JSONMember("for_development", .bool(descriptor.isForDevelopment)),
            JSONMember("platforms", texts(descriptor.platforms.map { $0.name })),
        ]
    }

    private func declared(_ storage: StorageDescriptor) -> [JSONMember] {
        [
            JSONMember("version", .string(storage.version)), JSONMember("contract", .integer(Int64(storage.contract))),
            JSONMember("summary", .string(storage.summary)),
            JSONMember("stability", .string(storage.stability.rawValue)),
            JSONMember("proves", text(storage.posture?.proves)),
            JSONMember("trusts", storage.posture.map { texts($0.trusts) } ?? .null),
            JSONMember("location", .string("\(storage.scheme):\(storage.location)")),
            JSONMember("survival", .string(storage.survival.rawValue)),
            JSONMember("sharing", .string(storage.sharing.rawValue)),
        ]
    }

    private func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    private func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

extension PluginUse {
    fileprivate var json: JSON {
        [
            "resource": .string(resource), "place": .string("\(location)"), "ready": .bool(problem == nil),
            "problem": problem == nil ? .null : .string(text),
        ]
    }
}

extension PluginHealth {
    fileprivate var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "version": .string(version),
            "health": .string(state.rawValue), "reason": reason.map { .string($0) } ?? .null,
        ]
    }
}

extension FactName {
    fileprivate var json: JSON {
        var members = [
            JSONMember("name", .string(text)), JSONMember("type", .string(type.name)),
            JSONMember("identifies_attester", .bool(identifiesAttester)),
        ]
        if case .words(let words) = type {
            members.append(JSONMember("words", .array(words.map { .string($0.string) })))
        }
        return .object(members)
    }
}

extension PluginLimits {
    fileprivate var json: JSON {
        [
            "evidence_bytes": .integer(Int64(evidence)), "reply_bytes": .integer(Int64(reply)),
            "seconds": time.map { .number($0 / .seconds(1)) } ?? .null, "cpu_seconds": .number(cpuTime / .seconds(1)),
            "concurrent_calls": .integer(Int64(concurrentCalls)), "outbound_calls": .integer(Int64(outboundCalls)),
            "store_writes": .integer(Int64(storeWrites)),
            "token_seconds": .integer(tokenLifetime.components.seconds),
        ]
    }
}
