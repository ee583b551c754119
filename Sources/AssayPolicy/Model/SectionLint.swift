package import AssayCore
package import AssayYAML

/// Checks the sections of plugins for what the kernel itself judges, by what the plugins' types declare about their
/// keys (`PolicyKey`): names that must be known, and values that are for development only.
package struct SectionLint {
    /// The names that the sections of a project may use; nil when not all of them are known.
    package struct Names {
        /// The providers of the program.
        package var providers: Set<ExactText>
        /// The providers that an app of the project has; nil when not all apps are known.
        package var usedProviders: Set<ExactText>?
        /// The subjects of tokens; nil when not all apps are known.
        package var apps: Set<ExactText>?

        package init(providers: Set<ExactText>, usedProviders: Set<ExactText>?, apps: Set<ExactText>?) {
            self.providers = providers
            self.usedProviders = usedProviders
            self.apps = apps
        }
    }

    /// The known shapes of types, because finding one takes time.
    private var shapes: [ObjectIdentifier: ValueShape] = [:]
    private let refusesDevelopment: Bool
    private let problems: DiagnosticSink
    private let warnings: DiagnosticSink

    package init(refusesDevelopment: Bool, problems: DiagnosticSink, warnings: DiagnosticSink) {
        self.refusesDevelopment = refusesDevelopment
        self.problems = problems
        self.warnings = warnings
    }

    /// Checks a section.
    ///
    /// - Parameters:
    ///   - type: the plugin's own type.
    ///   - kernelKeys: the types of the keys that the kernel reads in it.
    ///   - names: nil to accept all names.
    package mutating func check(
        _ section: PolicySection, of type: any Decodable.Type,
        kernelKeys: [(key: String, type: any Decodable.Type)] = [], names: Names? = nil
    ) {
        guard refusesDevelopment || names != nil, !problems.isOverfull else { return }
        let root = section.value(problems)
        for (key, type) in kernelKeys {
            guard let node = root.node[key] else { continue }
            check(at: YAMLValue(node, path: root.path.key(key), sink: problems), type, nil, names, levels: 16)
        }
        check(at: root, type, nil, names, levels: 16, without: kernelKeys.map(\.key))
    }

    /// Checks a section of the kernel, without what is in some of its keys.
    mutating func check(at value: YAMLValue, as type: any Decodable.Type, without others: [String]) {
        check(at: value, type, nil, nil, levels: 16, without: others)
    }

    private mutating func check(
        at value: YAMLValue, _ type: (any Decodable.Type)?, _ key: PolicyKey?, _ names: Names?, levels: Int,
        without others: [String] = []
    ) {
        // Types, and so values, may be recursive.
        guard levels > 0, !value.node.isNull else { return }
        let development = key?.development ?? .localURLs
        if refusesDevelopment, development == .anyValue {
            return refuse(value, "`\(value.name)` is for development", "leave the key out")
        }
        let shape = type.map { self.shape(of: $0) }
        switch value.node.content {
        case .scalar(let text, _):
            if refusesDevelopment { check(text, at: value, development) }
            if let names, let kind = key?.names { check(text, at: value, kind, names) }
        case .sequence(let elements):
            var element: (any Decodable.Type)?
            if case .list(let type, _)? = shape { element = type }
            for (index, node) in elements.enumerated() {
                check(
                    at: YAMLValue(node, path: value.path.index(index), sink: value.sink), element, key, names,
                    levels: levels - 1)
            }
            if let names, key?.names == .providers { checkUse(elements, at: value, names) }
        case .mapping(let entries):
            for entry in entries where !others.contains(exactly: entry.key) {
                let inner = YAMLValue(entry.value, path: value.path.key(entry.key), sink: value.sink)
                switch shape {
                case .dictionary(let type)?:
                    if let names, let kind = key?.names {
                        let problem = unknown(entry.key, kind, names)
                        if let problem {
                            problems.report(entry.diagnostic(problem.message, in: value.path, hint: problem.hint))
                        }
                    }
                    check(at: inner, type, key.map(\.ofElements), names, levels: levels - 1)
                case .mapping(let shape)?:
                    let field = shape.fields.first { $0.key.isExactly(entry.key) }
                    check(at: inner, field?.type, shape.descriptions[entry.key], names, levels: levels - 1)
                default:
                    // Even if a type's elements cannot be followed, what it says about its keys counts.
                    let described = type as? any DescribedConfiguration.Type
                    check(at: inner, nil, described?.keys[ExactText(entry.key)], names, levels: levels - 1)
                }
            }
        }
    }

    private mutating func shape(of type: any Decodable.Type) -> ValueShape {
        if let known = shapes[ObjectIdentifier(type)] { return known }
        let shape = ValueShape(of: type)
        shapes[ObjectIdentifier(type)] = shape
        return shape
    }

    private func refuse(_ value: YAMLValue, _ what: String, _ remedy: String) {
        value.report("\(what), and this server is for production", hint: remedy)
    }

    private func check(_ text: String, at value: YAMLValue, _ development: PolicyKey.Development) {
        if case .words(let words) = development, words.contains(where: { $0.string.isExactlyIgnoringASCIICase(text) }) {
            return refuse(
                value, "`\(value.statement(text))` is for development",
                "leave it out, or write the value for production instead")
        }
        guard development != .none, let url = EndpointURL(text), url.isOnThisMachine else { return }
        refuse(
            value, "`\(url.host)` is this machine, where a replacement of another server may run for development",
            "name the real server, or leave the key out if it has a standard value")
    }

    private func check(_ name: String, at value: YAMLValue, _ kind: PolicyKey.Names, _ names: Names) {
        if let problem = unknown(name, kind, names) { value.report(problem.message, hint: problem.hint) }
    }

    private func unknown(
        _ name: String, _ kind: PolicyKey.Names, _ names: Names
    ) -> (message: String, hint: String?)? {
        let known: Set<ExactText>?
        let message: String
        switch kind {
        case .providers: (known, message) = (names.providers, "unknown provider `\(name)`")
        case .apps: (known, message) = (names.apps, "unknown app or OAuth client `\(name)` in this project")
        }
        guard let known, !known.contains(ExactText(name)) else { return nil }
        return (message, Spelling.hint(for: name, among: known.map(\.string)))
    }

    /// Warns of a list of providers that no app has.
    private func checkUse(_ elements: [YAMLNode], at value: YAMLValue, _ names: Names) {
        let listed = elements.compactMap { node -> ExactText? in
            if case .scalar(let text, _) = node.content { ExactText(text) } else { nil }
        }
        guard let used = names.usedProviders, !listed.isEmpty, listed.allSatisfy(names.providers.contains),
            used.isDisjoint(with: listed)
        else { return }
        value.warn(
            "no app of the project has any of these providers: every token is refused here",
            hint: "its apps have: \(used.sorted().prefix(20).map { "`\($0)`" }.joined(separator: ", "))", into: warnings
        )
    }
}

extension PolicyKey {
    /// The rules for the elements of a mapping whose names it describes.
    fileprivate var ofElements: PolicyKey { PolicyKey(text, development: development) }
}

extension YAMLValue {
    /// A text at the value with the key before it; the text alone for an element of a list.
    fileprivate func statement(_ text: String) -> String {
        if case .key(let key)? = path.components.last { "\(key): \(text)" } else { text }
    }

    /// The key of the value, or its place in a list.
    fileprivate var name: String {
        switch path.components.last {
        case .key(let key)?: key
        case .index(let index)?: "[\(index)]"
        case nil: "it"
        }
    }
}
