import AssayCore
import AssayEngine
import AssayKit
import Testing

@Suite("What a registry demands of a descriptor")
struct DescriptorRulesTests {
    private static let long = String(repeating: "a", count: 65)

    /// A descriptor that is right but for what a test changes.
    private static func descriptor(
        name: String = "declared", contract: Int = PluginDescriptor.currentContract, version: String = "1.0",
        summary: String = "A test.", posture: SecurityPosture? = nil, reasons: [Reason] = [], facts: [FactName] = [],
        metrics: [Metric] = [],
        limits: PluginLimits = PluginLimits(), platforms: [any PlatformSection.Type] = []
    ) -> PluginDescriptor {
        PluginDescriptor.provider(
            name: name, contract: contract, version: version, summary: summary, posture: posture, reasons: reasons,
            facts: facts, metrics: metrics, limits: limits, platforms: platforms)
    }

    /// What is refused, and what the message says of it.
    private static let refused: [(PluginDescriptor, String)] = [
        (descriptor(contract: 0), "built for contract 0"), (descriptor(contract: 1), "built for contract 1"),
        (descriptor(contract: 4), "built for contract 4"),
        (descriptor(name: "Not A Name"), "is named 'Not A Name'"), (descriptor(name: ""), "is named ''"),
        (descriptor(name: "a\u{1B}[2J"), "is named 'a\u{FFFD}[2J'"), (descriptor(name: long), "at most 64"),
        (descriptor(version: long), "the version must be"), (descriptor(version: "1\n2"), "the version must be"),
        (descriptor(summary: "a\u{202E}b"), "the summary must be"),
        (descriptor(summary: String(repeating: "a", count: 513)), "the summary must be"),
        (descriptor(posture: SecurityPosture(proves: "a\u{0}", trusts: [])), "what it proves must be"),
        (descriptor(posture: SecurityPosture(proves: "a", trusts: ["a\r"])), "what it trusts must be"),
        (
            descriptor(posture: SecurityPosture(proves: "a", trusts: Array(repeating: "a", count: 33))),
            "33 parties that it trusts"
        ),
        (descriptor(reasons: [Reason("Not A Code", "No.")]), "the reason 'Not A Code'"),
        (descriptor(reasons: [Reason("", "No.")]), "the reason ''"),
        (descriptor(reasons: [Reason("a__b", "No.")]), "the reason 'a__b'"),
        (descriptor(reasons: [Reason("_a", "No.")]), "the reason '_a'"),
        (descriptor(reasons: [Reason("1a", "No.")]), "the reason '1a'"),
        (descriptor(reasons: [Reason(long, "No.")]), "at most 64"),
        (descriptor(reasons: [Reason("a", "N\u{7}o.")]), "the summary of the reason 'a'"),
        (descriptor(reasons: [Reason("a", "No.", advice: "\u{9B}")]), "the advice of the reason 'a'"),
        (descriptor(reasons: (0...512).map { Reason("r\($0)", "No.") }), "513 reasons"),
        (descriptor(reasons: [Reason("token_expired", "No.")]), "claimed by both the kernel and DeclaredProvider"),
        (descriptor(reasons: [Reason("a", "No."), Reason("a", "No.")]), "the reason 'a' is claimed by both"),
        (descriptor(facts: ["Weight"]), "the fact 'Weight'"), (descriptor(facts: ["a b"]), "the fact 'a b'"),
        (descriptor(facts: [FactName("x", .integer), FactName("x", .bool)]), "'x' is declared as integer and as bool"),
        (
            descriptor(facts: [FactName("x", .words(["a"])), FactName("x", .words(["b"]))]),
            "'x' is declared as words and as words"
        ),
        (descriptor(facts: [FactName("x", .words([]))]), "1 to 256 words"),
        (descriptor(facts: [FactName("x", .words(["a\n"]))]), "1 to 256 words"),
        (descriptor(facts: (0...128).map { FactName("f\($0)") }), "129 facts"),
        (
            descriptor(facts: [FactName("x", identifiesAttester: true), "y", FactName("z", identifiesAttester: true)]),
            "the facts 'x' and 'z' both identify the attester: a token has room for one of them"
        ),
        (descriptor(metrics: [.counter("things", "Things.")]), "the counter 'things' must end in _total"),
        (descriptor(metrics: [.gauge("has space", "Things.")]), "the metric 'has space'"),
        (descriptor(metrics: [.gauge("a", "\n")]), "the summary of the metric 'a'"),
        (descriptor(limits: PluginLimits(evidence: 0)), "the limit 'evidence' is 0"),
        (descriptor(limits: PluginLimits(evidence: 1_048_577)), "the limit 'evidence' is 1048577"),
        (descriptor(limits: PluginLimits(time: .zero)), "the limit 'time'"),
        (descriptor(limits: PluginLimits(time: .seconds(301))), "the limit 'time'"),
        (descriptor(limits: PluginLimits(tokenLifetime: .seconds(604_801))), "the limit 'tokenLifetime'"),
        (descriptor(limits: PluginLimits(cpuTime: .zero)), "the limit 'cpuTime'"),
        (descriptor(limits: PluginLimits(cpuTime: .seconds(61))), "the limit 'cpuTime'"),
        (descriptor(limits: PluginLimits(concurrentCalls: 0)), "the limit 'concurrentCalls' is 0"),
        (descriptor(limits: PluginLimits(concurrentCalls: 100_001)), "the limit 'concurrentCalls' is 100001"),
        (descriptor(limits: PluginLimits(outboundCalls: -1)), "the limit 'outboundCalls' is -1"),
        (descriptor(limits: PluginLimits(outboundCalls: 1001)), "the limit 'outboundCalls' is 1001"),
        (descriptor(limits: PluginLimits(storeWrites: -1)), "the limit 'storeWrites' is -1"),
        (descriptor(limits: PluginLimits(storeWrites: 100_001)), "the limit 'storeWrites' is 100001"),
        (descriptor(limits: PluginLimits(reply: 0)), "the limit 'reply' is 0"),
        (descriptor(limits: PluginLimits(reply: 1_048_577)), "the limit 'reply' is 1048577"),
        (descriptor(platforms: [OddPlatform.self]), "the platform 'odd-platform'"),
        (descriptor(platforms: [StolenPlatform.self]), "the key of an app 'providers' is claimed by both the kernel"),
    ]

    @Test("What cannot be is refused at start, and the message names the plugin and what is wrong", arguments: refused)
    func refuses(_ descriptor: PluginDescriptor, _ words: String) {
        let error = #expect(throws: RegistryError.self) { try DeclaredProvider.registry(descriptor) }
        #expect(error?.message.contains("DeclaredProvider") == true || words.contains("kernel"), "\(words)")
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        let isSafe = error?.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ?? true
        #expect(isSafe)
    }

    @Test(
        "The facts of the kernel belong to the kernel",
        arguments: [
            "actor", "caller_subject", "token_id", "app", "permission", "consumer", "already_consumed", "service_level",
            "resource_level",
        ])
    func kernelFacts(_ name: String) {
        let error = #expect(throws: RegistryError.self) {
            try DeclaredProvider.registry(Self.descriptor(facts: [FactName(name)]))
        }
        #expect(error?.message == "the fact '\(name)' is claimed by both the kernel and DeclaredProvider")
    }

    @Test(
        "A fact has one type in all providers: rules name it without its provider",
        arguments: [
            (FactName("count", .integer), nil), (FactName("level", .words(["low", "high"])), nil),
            (FactName("other", .bool), nil),
            (FactName("count", .bool), "as integer by the provider unruly and as bool"),
            (
                FactName("level", .words(["low"])),
                "as words (low, high) by the provider unruly and as words (low) by the provider declared"
            ),
            ("build", "as version by the provider unruly and as text by the provider declared"),
        ])
    func sharedFacts(_ fact: FactName, _ words: String?) throws {
        func registry() throws -> Registry {
            try DeclaredProvider.registry(Self.descriptor(facts: [fact]), beside: [.provider(UnrulyProvider.self)])
        }
        guard let words else {
            #expect(try registry().descriptors.count == 2)
            return
        }
        let error = #expect(throws: RegistryError.self) { try registry() }
        #expect(error?.message.hasPrefix("the fact '\(fact)' is declared \(words)") == true, "\(error?.message ?? "")")
    }

    @Test(
        "A method has a name that paths and records can hold",
        arguments: [
            "has space", "", "Exchange", "a.b", "a/b", "a:b", "exchängeX", "a\u{0}",
            String(repeating: "a", count: 129),
        ])
    func methods(_ name: String) {
        let error = #expect(throws: RegistryError.self) {
            try DeclaredProvider.registry(Self.descriptor(), methods: [name])
        }
        #expect(error?.message.contains("DeclaredProvider: the method '") == true, "\(error?.message ?? "")")
    }

    @Test(
        "A consumer signs tokens of types that it declares, and never those of App Check",
        arguments: [
            ("JWT", "claimed by both the kernel and DeclaredConsumer"), ("jwt", "claimed by both"),
            ("", "must be a media type"), ("a b", "must be a media type"),
            ("application/ticket+jwt", "must be a media"),
            ("a\n", "must be a media type"), (String(repeating: "a", count: 129), "must be a media type"),
        ])
    func tokenTypes(_ type: String, _ words: String) throws {
        func registry(_ types: [String]) throws -> Registry {
            try DeclaredConsumer.$descriptor.withValue(
                PluginDescriptor.consumer(name: "taking", summary: "A test.", reasons: [], tokenTypes: types)
            ) { try Registry([.consumer(DeclaredConsumer.self)]) }
        }
        let error = #expect(throws: RegistryError.self) { try registry([type]) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(try registry(["ticket+jwt", "eat+jwt"]).plugins.first?.descriptor?.tokenTypes.count == 2)
    }

    @Test("What is described as something else is refused")
    func kind() {
        let error = #expect(throws: RegistryError.self) {
            try DeclaredProvider.registry(.consumer(name: "declared", summary: "A test.", reasons: []))
        }
        #expect(error?.message.contains("it is a provider, and describes itself as a consumer") == true)
    }

    @Test("What is at the limits is accepted")
    func accepted() throws {
        let limits = PluginLimits(
            evidence: 1_048_576, time: .seconds(300), cpuTime: .seconds(60), concurrentCalls: 100_000,
            outboundCalls: 0, storeWrites: 0, reply: 1)
        let plugin = try #require(
            try DeclaredProvider.registry(
                Self.descriptor(
                    posture: SecurityPosture(proves: "Größe", trusts: ["a"]),
                    reasons: (0..<512).map { Reason("r\($0)", "No.") },
                    facts: (0..<127).map { FactName("f\($0)") } + [FactName("f0", identifiesAttester: true)],
                    limits: limits)
            ).plugins.first)
        #expect(plugin.descriptor?.limits == limits)
        #expect(plugin.warnings.isEmpty)
    }

    @Test("A plugin of the contract before is accepted, and the warning says what to do")
    func contracts() throws {
        let registry = try DeclaredProvider.registry(Self.descriptor(contract: 2))
        #expect(
            registry.warnings == [
                """
                the provider declared was built for contract 2, which the next version will refuse: describe it with \
                PluginDescriptor.provider(…), which says contract 3
                """
            ])
        #expect(try DeclaredProvider.registry(Self.descriptor(contract: 3)).warnings.isEmpty)
    }
}

private struct OddPlatform: PlatformSection {
    static let name = "odd-platform"
    static let summary = "Odd."
    static let keys: [ExactText: PolicyKey] = [:]
}

private struct StolenPlatform: PlatformSection {
    static let name = "providers"
    static let summary = "Stolen."
    static let keys: [ExactText: PolicyKey] = [:]
}
