internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Reads the keys of a test with `device`.
struct DeviceOrderReader {
    let subject: Subject
    let simulator: (any EvidenceSimulator)?

    /// - Parameter standard: the time that the file's tests share; nil for none.
    func read(_ value: YAMLValue, _ stated: StatedCase, time standard: YAMLValue?) -> DeviceOrder? {
        guard let section = value.mapping() else { return nil }
        let time = (stated.time ?? standard).map { $0.decode(Instant.self) }
        let limitedUse = stated.limitedUse.map { $0.decode(Bool.self) }
        guard let simulator else {
            // Nobody knows what may be said of a device: the test does not run.
            return DeviceOrder(
                simulator: nil, method: "", device: [:], changes: [:], limitedUse: false, time: nil)
        }
        let known = simulator.properties.map(\.name)
        let device = TypedValues.read(
            section, what: "property", find: { name in known.first { $0.text.isExactly(name) } }
        ) { entry in
            value.sink.report(
                entry.diagnostic(
                    "a device of the provider `\(subject.provider.name)` has no `\(entry.key)`", in: value.path,
                    hint: Spelling.hint(for: entry.key, among: known.map(\.text))))
        }
        guard let method = method(stated.method, simulator) else { return nil }
        let changes = stated.change.map { self.changes($0, simulator, method) }
        if case .some(.none) = time { return nil }
        return DeviceOrder(
            simulator: simulator, method: method,
            device: device.reduce(into: [:]) { $0[$1.name.text] = $1.value },
            changes: changes ?? [:], limitedUse: (limitedUse ?? false) ?? false, time: time ?? nil)
    }

    private func method(_ value: YAMLValue?, _ simulator: any EvidenceSimulator) -> String? {
        guard let value else { return simulator.methods.first }
        guard let name = value.decode(String.self) else { return nil }
        guard simulator.methods.contains(exactly: name) else {
            value.report(
                "no simulated device calls `\(name)`", hint: Spelling.hint(for: name, among: simulator.methods))
            return nil
        }
        return name
    }

    private func changes(
        _ value: YAMLValue, _ simulator: any EvidenceSimulator, _ method: String
    ) -> [ExactText: ExactText] {
        var changes: [ExactText: ExactText] = [:]
        for (entry, value) in value.mapping()?.all() ?? [] {
            guard let change = simulator.changes.first(where: { $0.name.isExactly(entry.key) }) else {
                value.sink.report(
                    entry.diagnostic(
                        "evidence of the provider `\(subject.provider.name)` has no `\(entry.key)` to change",
                        in: value.path.parent, hint: Spelling.hint(for: entry.key, among: simulator.changes.map(\.name))
                    ))
                continue
            }
            if let methods = change.methods, !methods.contains(exactly: method) {
                value.report(
                    "`\(method)` has no `\(entry.key)`",
                    hint: "with `method: \(methods.first ?? "")` it can be changed")
                continue
            }
            guard let way = value.decode(String.self) else { continue }
            guard change.ways.contains(exactly: way) else {
                value.report(
                    "`\(entry.key)` cannot be changed so", hint: Spelling.hint(for: way, among: change.ways))
                continue
            }
            changes[entry.key] = ExactText(way)
        }
        return changes
    }
}

extension YAMLPath {
    /// The way to the mapping or the list that has the value.
    fileprivate var parent: YAMLPath {
        if case .child(let parent, _) = self { parent } else { self }
    }
}
