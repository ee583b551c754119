internal import AssayCore
internal import AssayKit
internal import AssayYAML

extension PluginDescriptor {
    /// What a process says of its plugin; the registry checks names, lengths and numbers.
    init(_ description: PluginProcess.Description) throws {
        let stability: PluginStability =
            switch description.stability {
            case .stable: .stable
            case .deprecated: .deprecated
            default: .experimental
            }
        let posture =
            description.proves.isEmpty
            ? nil : SecurityPosture(proves: description.proves, trusts: description.trusts)
        let reasons = description.reasons.map { Reason($0.code, $0.summary, advice: $0.advice) }
        let facts = try description.facts.map { FactName($0.name, try FactType($0)) }
        // Nothing of the plugin runs here: its calls need no threads of their own.
        if description.kind == .consumer {
            self = .consumer(
                name: description.name, version: description.version, summary: description.summary,
                stability: stability, posture: posture, reasons: reasons, facts: facts,
                limits: PluginLimits(description.limits), execution: .shared)
        } else {
            self = .provider(
                name: description.name, version: description.version, summary: description.summary,
                stability: stability, posture: posture, reasons: reasons, facts: facts,
                limits: PluginLimits(description.limits), execution: .shared,
                isForDevelopment: description.forDevelopment)
        }
    }
}

extension FactType {
    fileprivate init(_ fact: Assay_Plugin_V1_FactName) throws {
        switch fact.type {
        case .text: self = .text
        case .word: self = .words(fact.words.map { ExactText($0) })
        case .integer: self = .integer
        case .boolean: self = .bool
        case .instant: self = .instant
        case .duration: self = .duration
        case .version: self = .version
        case .digest: self = .digest
        default: throw PluginProcess.Unavailable(description: "a fact has an unknown type")
        }
    }
}

extension PluginLimits {
    fileprivate init(_ limits: Assay_Plugin_V1_Limits) {
        self.init()
        func set(_ path: WritableKeyPath<PluginLimits, Int>, _ value: UInt32) {
            if value > 0 { self[keyPath: path] = Int(value) }
        }
        set(\.evidence, limits.evidenceBytes)
        set(\.concurrentCalls, limits.concurrentCalls)
        set(\.outboundCalls, limits.outboundCalls)
        set(\.storeWrites, limits.storeWrites)
        set(\.reply, limits.replyBytes)
        if limits.timeMilliseconds > 0 { time = .milliseconds(Int64(limits.timeMilliseconds)) }
    }
}

extension MethodDescriptor {
    init(_ method: Assay_Plugin_V1_Method, of kind: Assay_Plugin_V1_DescribeResponse.Kind) throws {
        func wrong(_ what: String) -> PluginProcess.Unavailable {
            PluginProcess.Unavailable(
                description: "the method '\(HostService.line(method.name, limit: 80))' \(what)")
        }
        let request = MessageShape(try method.request.map { try MessageField($0, method.name) })
        let reply = MessageShape(try method.reply.map { try MessageField($0, method.name) })
        let verb = method.verb.isEmpty ? HTTPRule.Verb.post : HTTPRule.Verb(exactly: method.verb)
        guard let verb else { throw wrong("has an unknown verb") }
        guard method.path.isEmpty || method.path.utf8.count <= 256 && method.path.utf8.allSatisfy(\.isPathByte) else {
            throw wrong("has a path that is none")
        }
        switch (method.kind, kind) {
        case (.challenge, .provider):
            self.init(name: method.name, kind: .challenge, resources: [.app])
        case (.exchange, .provider):
            self = MethodDescriptor(
                name: method.name, kind: .exchange(method.enclosesToken ? .enclosed : .alone), resources: [.app]
            ).with(request: request, reply: reply)
        case (.call, .provider):
            let path = MethodPath(verb, method.path.isEmpty ? ":\(method.name)" : method.path)
            self = MethodDescriptor(name: method.name, kind: .call(.admin), resources: [.app], path: path)
                .with(request: request, reply: reply)
        case (.redeem, .consumer):
            guard method.path.utf8.first == UInt8(ascii: "/") else { throw wrong("has no path") }
            self = MethodDescriptor(
                name: method.name, kind: .call(nil), resources: [], rules: [HTTPRule(verb, method.path, version: .v1)]
            ).with(request: request, reply: reply)
            takesToken = true
        default: throw wrong("is of a kind that such a plugin cannot have")
        }
    }
}

extension UInt8 {
    fileprivate var isPathByte: Bool { isASCIILetterOrDigit || "/:_-.".utf8.contains(self) }
}

extension MessageField {
    fileprivate init(_ field: Assay_Plugin_V1_Field, _ method: String) throws {
        let kind: MessageField.Kind? =
            switch field.kind {
            case .text: .text
            case .bytes: .bytes
            case .boolean: .boolean
            case .integer: .integer(Int64.min...Int64.max)
            case .duration: .duration
            case .texts: .list(.text, atMost: 100)
            default: nil
            }
        guard let kind, (1...64).contains(field.name.utf8.count),
            field.name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") })
        else {
            throw PluginProcess.Unavailable(
                description: "the method '\(HostService.line(method, limit: 80))' has a field without a name or a kind")
        }
        self = field.required ? .required(field.name, kind) : .optional(field.name, kind)
    }
}

extension DeclaredShape {
    /// The keys of a section, of which there are at most a few hundred, in a few levels.
    init(_ keys: [Assay_Plugin_V1_Key], depth: Int) throws {
        guard keys.count <= 100, depth < 4 else {
            throw PluginProcess.Unavailable(description: "it declares more keys than a section may have")
        }
        var names: Set<ExactText> = []
        self.init(
            try keys.map { key in
                func wrong(_ what: String) -> PluginProcess.Unavailable {
                    PluginProcess.Unavailable(description: "the key '\(HostService.line(key.name, limit: 80))' \(what)")
                }
                let isName =
                    (1...64).contains(key.name.utf8.count)
                    && key.name.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
                guard isName else { throw wrong("is not lower-case letters, digits and underscores") }
                guard names.insert(ExactText(key.name)).inserted else { throw wrong("is declared twice") }
                guard depth > 0 || !key.name.isExactly("token_ttl") else { throw wrong("is Assay's own") }
                let summary = HostService.line(key.summary)
                guard !summary.isEmpty else { throw wrong("is not explained") }
                let kind: Kind
                switch key.kind {
                case .text: kind = .text
                case .integer:
                    let isFree = key.minimum == 0 && key.maximum == 0
                    guard isFree || key.minimum <= key.maximum else { throw wrong("has no possible value") }
                    kind = .integer(isFree ? Int64.min...Int64.max : key.minimum...key.maximum)
                case .boolean: kind = .boolean
                case .duration: kind = .duration
                case .word:
                    guard (1...256).contains(key.words.count) else { throw wrong("has no words, or over 256") }
                    kind = .word(key.words.map { HostService.line($0, limit: 128) })
                case .secret: kind = .secret
                case .mapping: kind = .mapping(try DeclaredShape(key.keys, depth: depth + 1))
                default: throw wrong("is of an unknown kind")
                }
                return Key(key.name, key.list ? .list(kind) : kind, isRequired: key.required, summary: summary)
            })
    }
}
