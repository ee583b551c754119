internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// The keys that one test states.
struct StatedCase {
    /// What a test is about: one key of each test.
    enum Form: String, CaseIterable {
        case facts, device, decision, caller, request

        /// The keys that go with it, in addition to `name` and `expect`.
        var keys: [String] {
            switch self {
            case .facts: ["app", "provider", "facts"]
            case .device: ["app", "provider", "device", "method", "change", "at", "limited_use"]
            case .decision: ["decision"]
            case .caller: ["caller", "method", "resource"]
            case .request: ["request", "backend", "token"]
            }
        }
    }

    private let values: [ExactText: YAMLValue]

    init(_ section: YAMLMapping) {
        // All of them are asked for, so that only keys of no form are unknown.
        for key in ["name", "expect"] { _ = section.stated(key) }
        values = Form.allCases.flatMap(\.keys).reduce(into: [:]) { values, key in
            if values[key] == nil, let value = section.stated(key) { values[key] = value }
            // What may be there without a value is read as a mapping.
            if !["facts", "device"].contains(exactly: key) { _ = section.optional(key) }
        }
    }

    /// A key that has a value.
    private func value(_ key: String) -> YAMLValue? { values[key].flatMap { $0.node.isNull ? nil : $0 } }

    var app: YAMLValue? { value("app") }
    var provider: YAMLValue? { value("provider") }
    var method: YAMLValue? { value("method") }
    var change: YAMLValue? { value("change") }
    var time: YAMLValue? { value("at") }
    var limitedUse: YAMLValue? { value("limited_use") }
    var decision: YAMLValue? { value("decision") }
    var caller: YAMLValue? { value("caller") }
    var resource: YAMLValue? { value("resource") }
    var request: YAMLValue? { value("request") }
    var backend: YAMLValue? { value("backend") }
    var token: YAMLValue? { value("token") }
    /// Facts may be none.
    var facts: YAMLValue? { values["facts"] }
    /// A device may have nothing special.
    var device: YAMLValue? { values["device"] }

    /// The form; nil, and reported, when there is none or more than one.
    ///
    /// A key of another form is reported, too.
    func form(_ section: YAMLMapping) -> Form? {
        let stated = Form.allCases.filter { values[$0.rawValue] != nil }
        guard let form = stated.first else {
            section.value.report(
                "expected one of `facts`, `device`, `decision`, `caller` and `request`: what the test is about")
            return nil
        }
        if let other = stated.dropFirst().first {
            section.report(
                "a test has only one of `facts`, `device`, `decision`, `caller` and `request`", key: other.rawValue)
            return nil
        }
        for (key, _) in values.sorted(by: { $0.key < $1.key }) where !form.keys.contains(exactly: key.string) {
            section.report("has no effect with `\(form.rawValue)`", key: key.string)
        }
        return form
    }
}

/// What the tests of a file share: the section `defaults`.
struct CaseDefaults {
    let app: YAMLValue?
    let provider: YAMLValue?
    let time: YAMLValue?

    init?(_ value: YAMLValue) {
        guard let section = value.mapping() else { return nil }
        app = section.optional("app")
        provider = section.optional("provider")
        time = section.optional("at")
        section.finish()
    }
}

/// Reads values of names with types, such as facts.
enum TypedValues {
    /// - Parameters:
    ///   - what: what one of them is called.
    ///   - find: the name with its type; nil for an unknown one.
    ///   - unknown: reports an unknown name.
    static func read(
        _ section: YAMLMapping, what: String, find: (String) -> FactName?, unknown: (YAMLEntry) -> Void
    ) -> [(name: FactName, value: Fact.Value)] {
        let all = section.all()
        if all.count > CaseReader.entryLimit {
            section.value.report("a test has at most \(CaseReader.entryLimit) \(what)s")
        }
        return all.prefix(CaseReader.entryLimit).compactMap { entry, value in
            guard let name = find(entry.key) else {
                unknown(entry)
                return nil
            }
            guard !value.node.isNull else {
                if value.node.isAbsent { value.sink.report(entry.lacksValue(in: section.path)) }
                return nil
            }
            return FactReader.read(value, of: entry.key, name.type).map { (name, $0) }
        }
    }
}
