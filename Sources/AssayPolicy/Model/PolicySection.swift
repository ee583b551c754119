package import AssayCore
public import AssayYAML

/// A plugin's own section of a policy file, with its place.
public struct PolicySection: Sendable {
    private let entry: YAMLEntry
    private let parent: YAMLPath
    /// The keys of the section that are the kernel's, not the plugin's.
    private let kernelKeys: [String]

    init(_ entry: YAMLEntry, in parent: YAMLPath, kernelKeys: [String]) {
        self.entry = entry
        self.parent = parent
        self.kernelKeys = kernelKeys
    }

    private var path: YAMLPath { parent.key(entry.key) }

    /// The way from the root to the section, such as `projects[0].apps[1].providers.debug`.
    package var pathText: String { path.description }

    /// The way to the app or the project that has the section, such as `projects[0].apps[1]`; empty for the root.
    package var ownerPathText: String {
        if case .child(let owner, _) = parent { owner.description } else { "" }
    }

    /// The same section with the keys of another mapping beneath its own.
    func merged(over base: YAMLNode) -> PolicySection {
        PolicySection(entry.replacing(entry.value.merged(over: base)), in: parent, kernelKeys: kernelKeys)
    }

    /// The same section with the keys of another mapping in the place of its own; `null` there takes a key away.
    package func overlaid(by node: YAMLNode) -> PolicySection {
        PolicySection(entry.replacing(entry.value.overlaid(by: node)), in: parent, kernelKeys: kernelKeys)
    }

    /// The same section without a key.
    package func without(_ key: String) -> PolicySection {
        PolicySection(entry.replacing(entry.value.without([key])), in: parent, kernelKeys: kernelKeys)
    }

    /// The same section without some keys of the shadow settings, for which those in force hold then.
    package func withoutTried(_ keys: [String]) -> PolicySection {
        let value = entry.value.mapValues { inner in
            inner.key.isExactly(ProviderSection.CodingKeys.shadow.stringValue) ? inner.value.without(keys) : inner.value
        }
        return PolicySection(entry.replacing(value), in: parent, kernelKeys: kernelKeys)
    }

    /// Its keys with their places, in the order of the file.
    package var keys: [(name: String, location: SourceLocation)] {
        (entry.value.entries ?? []).map { ($0.key, $0.keyLocation) }
    }

    /// Its values, as YAML's core schema means them.
    package var json: JSON { entry.value.json }

    /// The section with the shadow settings in the place of those in force; nil when there are none.
    ///
    /// They are merged by key, as an app is merged with its profile.
    var shadow: PolicySection? {
        let tried = entry.value.entries?.first {
            $0.key.isExactly(ProviderSection.CodingKeys.shadow.stringValue) && !$0.value.isNull
        }
        guard let tried else { return nil }
        let settings = tried.value.merged(over: entry.value.without(ProviderSection.CodingKeys.names))
        return PolicySection(tried.replacing(settings), in: path, kernelKeys: [])
    }

    /// The text of one of its keys; nil when it is absent or no text.
    func text(of key: String) -> String? {
        guard case .scalar(let text, _)? = entry.value[key]?.content else { return nil }
        return text
    }

    /// Whether any of its keys or values is at one of these places.
    package func touches(_ places: Set<SourceLocation>) -> Bool {
        places.contains(location) || entry.value.touches(places)
    }

    /// Whether the value at a path is one of some texts, or contains one.
    package func contains(anyOf texts: Set<ExactText>, at path: [ConfigurationError.Component]) -> Bool {
        entry.value.contains(anyOf: texts, at: path)
    }

    /// The number of values in it.
    var valueCount: Int { entry.value.valueCount }

    /// The place of its key.
    package var location: SourceLocation { entry.keyLocation }

    /// The section as the plugin's own type.
    ///
    /// - Throws: all errors in the section, unknown keys included.
    public func decode<Configuration: Decodable>(_ type: Configuration.Type) throws(Diagnostics) -> Configuration {
        let sink = DiagnosticSink()
        let mapping = YAMLValue(entry.value, path: path, sink: sink).mapping(for: type)
        for key in kernelKeys { _ = mapping?.optional(key) }
        let configuration = mapping?.decode(type)
        mapping?.finish()
        try sink.throwIfAny()
        guard let configuration else { throw diagnostics("cannot be read") }
        return configuration
    }

    /// The section as JSON, by the keys that a plugin in another process declares.
    ///
    /// - Throws: all errors in the section, unknown keys included.
    package func json(_ shape: DeclaredShape) throws(Diagnostics) -> JSON {
        let sink = DiagnosticSink()
        let value = YAMLValue(entry.value, path: path, sink: sink)
        guard let mapping = value.mapping() else {
            try sink.throwIfAny()
            throw diagnostics("cannot be read")
        }
        for key in kernelKeys { _ = mapping.optional(key) }
        let json = shape.read(mapping)
        try sink.throwIfAny()
        return json
    }

    /// The value of one of the kernel's keys; nil when it is absent, or the section is not a mapping.
    ///
    /// - Throws: all errors in the value.
    package func kernelValue<Value: Decodable>(_ key: String, as type: Value.Type) throws(Diagnostics) -> Value? {
        guard let node = entry.value[key], !node.isNull else { return nil }
        let sink = DiagnosticSink()
        let value = YAMLValue(node, path: path.key(key), sink: sink).decode(type)
        try sink.throwIfAny()
        return value
    }

    /// The section, for a reader that reports errors to a sink.
    func value(_ sink: DiagnosticSink) -> YAMLValue { YAMLValue(entry.value, path: path, sink: sink) }

    /// A plugin's warnings about its section, at the places that it names.
    package func diagnostics(for warnings: [ConfigurationWarning]) -> [Diagnostic] {
        entry.value.diagnostics(for: warnings, path: path)
    }

    /// A plugin's error about its section, at the place that it names.
    package func diagnostics(for error: ConfigurationError) -> Diagnostics {
        Diagnostics(entry.value.diagnostics(for: error, path: path)) ?? diagnostics(error.message)
    }

    /// A problem with the section as a whole, at its key.
    package func diagnostics(_ message: String, hint: String? = nil) -> Diagnostics {
        Diagnostics(entry.diagnostic(message, in: parent, hint: hint))
    }

    /// Its keys, each as a section; nil, and reported, when it is no mapping.
    func parts(_ sink: DiagnosticSink) -> [PolicySection]? {
        value(sink).mapping()?.all().map { PolicySection($0.entry, in: path, kernelKeys: []) }
    }

    /// The place of a key's value; nil when it is absent.
    package func location(of key: String) -> SourceLocation? {
        entry.value[key].flatMap { $0.isNull ? nil : $0.location }
    }

    /// The place of what a plugin names in its section.
    package func location(of path: [ConfigurationError.Component]) -> SourceLocation {
        entry.value.descendant(path).location
    }

    /// The value of a key.
    func node(of key: String) -> YAMLNode? { entry.value[key] }

    var node: YAMLNode { entry.value }

    /// The problem of a name that is defined twice.
    func definedTwice(_ first: PolicySection) -> Diagnostic {
        entry.diagnostic(
            "`\(entry.key)` is defined twice", in: parent,
            related: [.init(location: first.location, message: "first defined here")])
    }

    /// A warning about the section as a whole, at its key.
    func warning(_ message: String) -> Diagnostic {
        entry.diagnostic(message, in: parent, severity: .warning)
    }

    /// Whether the section is `null`, which counts as absent, or has no value, which is reported.
    func isNull(_ sink: DiagnosticSink) -> Bool {
        if entry.value.isAbsent { sink.report(entry.lacksValue(in: parent)) }
        return entry.value.isNull
    }

    /// The problem of an unknown key.
    func unknownKey(known: [String]) -> Diagnostic {
        entry.unknownKey(in: parent, known: known)
    }

    /// The key of the section.
    package var name: String { entry.key }

    /// The problem of a section whose consumer is unknown.
    package func unknownConsumer(known: [String]) -> Diagnostics {
        diagnostics("unknown consumer `\(entry.key)`", hint: Spelling.hint(for: entry.key, among: known))
    }

    /// The problem of a section whose plugin is unknown.
    package func unknownProvider(known: [String]) -> Diagnostics {
        diagnostics("unknown provider `\(entry.key)`", hint: Spelling.hint(for: entry.key, among: known))
    }
}
