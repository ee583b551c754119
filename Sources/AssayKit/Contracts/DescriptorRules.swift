package import AssayCore

/// What is wrong with a descriptor, with the plugin's name.
package struct DescriptorProblem: Error {
    package let message: String

    fileprivate init(_ message: String) { self.message = message }
}

/// What a registry demands of a descriptor, whatever the other plugins are.
package struct DescriptorRules {
    /// The most bytes of a descriptor's texts.
    enum TextLimit {
        static let version = 64
        static let summary = 512
        static let advice = 4096
        static let posture = 1024
        static let word = 128
    }

    /// How many of each a plugin may declare.
    enum Count {
        static let methods = 128
        static let reasons = 512
        static let facts = 128
        static let metrics = 128
        static let tokenTypes = 16
        static let platforms = 16
        static let trusts = 32
        static let words = 256
    }

    let kind: PluginKind
    let descriptor: PluginDescriptor
    let typeName: String
    let methods: [MethodDescriptor]

    package init(kind: PluginKind, descriptor: PluginDescriptor, typeName: String, methods: [MethodDescriptor]) {
        self.kind = kind
        self.descriptor = descriptor
        self.typeName = typeName
        self.methods = methods
    }

    /// - Parameter reserved: the facts of the kernel, which no plugin declares.
    /// - Throws: `DescriptorProblem` for the first thing that is wrong.
    package func check(reserved: Set<FactName>) throws(DescriptorProblem) {
        try checkContract()
        guard PlainText.isWord(descriptor.name) else {
            throw DescriptorProblem(
                "the \(kind.rawValue) \(typeName) is named '\(PlainText.line(descriptor.name, limit: 80))': a name is "
                    + "lower-case letters, digits and underscores, at most 64")
        }
        try checkTexts()
        try checkMethods()
        try checkReasons()
        try checkFacts(reserved)
        try checkMetrics()
        try checkTokenTypes()
        try checkPlatforms()
        if let problem = descriptor.limits.problem { try refuse(problem) }
    }

    /// The warning about a plugin of the contract before; nil for one of the present contract.
    package var warning: String? {
        guard descriptor.contract < PluginDescriptor.currentContract else { return nil }
        return """
            the \(kind.rawValue) \(descriptor.name) was built for contract \(descriptor.contract), which the next version will \
            refuse: describe it with PluginDescriptor.\(kind.rawValue)(…), which says contract \
            \(PluginDescriptor.currentContract)
            """
    }

    private func checkContract() throws(DescriptorProblem) {
        let accepted = PluginDescriptor.oldestContract...PluginDescriptor.currentContract
        guard accepted.contains(descriptor.contract) else {
            throw DescriptorProblem(
                "the \(kind.rawValue) \(typeName) was built for contract \(descriptor.contract), and this kernel speaks "
                    + "contract \(PluginDescriptor.currentContract) and accepts \(PluginDescriptor.oldestContract)")
        }
        if let described = descriptor.kind, described != kind {
            try refuse("it is a \(kind.rawValue), and describes itself as a \(described.rawValue)")
        }
    }

    private func checkTexts() throws(DescriptorProblem) {
        try check(descriptor.version, "the version", TextLimit.version)
        try check(descriptor.summary, "the summary", TextLimit.summary)
        guard let posture = descriptor.posture else { return }
        try check(posture.proves, "what it proves", TextLimit.posture)
        try check(posture.trusts.count, Count.trusts, "parties that it trusts")
        for trusted in posture.trusts { try check(trusted, "what it trusts", TextLimit.posture) }
    }

    private func checkMethods() throws(DescriptorProblem) {
        try check(methods.count, Count.methods, "methods")
        for method in methods {
            let name = method.name
            guard (1...TextLimit.word).contains(name.utf8.count), name.utf8.first?.isASCIILowercase == true,
                name.utf8.allSatisfy(\.isASCIILetterOrDigit)
            else {
                try refuse(
                    "the method '\(PlainText.line(name, limit: 80))' must be ASCII letters and digits, and begin with a "
                        + "lower-case letter")
                return
            }
            guard method.rules.count <= 64 else { return try refuse("the method '\(name)' has over 64 HTTP rules") }
            if let permission = method.permission {
                guard (1...TextLimit.word).contains(permission.name.utf8.count),
                    permission.name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: ".") })
                else {
                    try refuse("the permission of the method '\(name)' must be ASCII letters, digits and dots")
                    return
                }
            }
        }
    }

    private func checkReasons() throws(DescriptorProblem) {
        try check(descriptor.reasons.count, Count.reasons, "reasons")
        for reason in descriptor.reasons {
            guard PlainText.isCode(reason.code) else {
                try refuse(
                    "the reason '\(PlainText.line(reason.code, limit: 80))' must be lower-case words joined by underscores, "
                        + "at most 64 characters")
                return
            }
            try check(reason.summary, "the summary of the reason '\(reason.code)'", TextLimit.summary)
            try check(reason.advice, "the advice of the reason '\(reason.code)'", TextLimit.advice)
        }
    }

    private func checkFacts(_ reserved: Set<FactName>) throws(DescriptorProblem) {
        try check(descriptor.facts.count, Count.facts, "facts")
        var types: [ExactText: FactType] = [:]
        var attester: FactName?
        for fact in descriptor.facts {
            guard PlainText.isCode(fact.text) else {
                try refuse(
                    "the fact '\(PlainText.line(fact.text, limit: 80))' must be lower-case words joined by underscores, "
                        + "at most 64 characters")
                return
            }
            guard !reserved.contains(fact) else {
                throw DescriptorProblem("the fact '\(fact)' is claimed by both the kernel and \(typeName)")
            }
            if let other = types.updateValue(fact.type, forKey: ExactText(fact.text)), !other.isSame(as: fact.type) {
                return try refuse("the fact '\(fact)' is declared as \(other.name) and as \(fact.type.name)")
            }
            if fact.identifiesAttester {
                if let attester, attester != fact {
                    return try refuse(
                        "the facts '\(attester)' and '\(fact)' both identify the attester: a token has room for one of them"
                    )
                }
                attester = fact
            }
            guard case .words(let words) = fact.type else { continue }
            guard (1...Count.words).contains(words.count),
                words.allSatisfy({ !$0.string.isEmpty && PlainText.isPlain($0.string, limit: TextLimit.word) })
            else {
                try refuse(
                    "the fact '\(fact)' must have 1 to \(Count.words) words of at most \(TextLimit.word) bytes, without "
                        + "control characters")
                return
            }
        }
    }

    private func checkMetrics() throws(DescriptorProblem) {
        try check(descriptor.metrics.count, Count.metrics, "metrics")
        for metric in descriptor.metrics {
            if let problem = metric.problem { throw DescriptorProblem("\(typeName): \(PlainText.line(problem))") }
            try check(metric.summary, "the summary of the metric '\(metric.name)'", TextLimit.summary)
        }
    }

    private func checkTokenTypes() throws(DescriptorProblem) {
        let types = descriptor.tokenTypes
        try check(types.count, Count.tokenTypes, "token types")
        if kind != .consumer, !types.isEmpty { try refuse("only consumers sign tokens and declare their types") }
        for type in types {
            // RFC 7515, section 4.1.9: a media type without `application/`, compared in any letter case.
            guard (1...TextLimit.word).contains(type.utf8.count),
                type.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "+-._".utf8.contains($0) })
            else {
                try refuse(
                    "the token type '\(PlainText.line(type, limit: 80))' must be a media type such as 'ticket+jwt', without "
                        + "'application/'")
                return
            }
            guard !type.isExactlyIgnoringASCIICase("JWT") else {
                throw DescriptorProblem("the token type '\(type)' is claimed by both the kernel and \(typeName)")
            }
        }
    }

    private func checkPlatforms() throws(DescriptorProblem) {
        try check(descriptor.platforms.count, Count.platforms, "platforms")
        for platform in descriptor.platforms where !PlainText.isWord(platform.name) {
            try refuse(
                "the platform '\(PlainText.line(platform.name, limit: 80))' must be lower-case letters, digits and "
                    + "underscores")
        }
    }

    private func check(_ text: String, _ what: String, _ limit: Int) throws(DescriptorProblem) {
        guard PlainText.isPlain(text, limit: limit) else {
            try refuse("\(what) must be one line of at most \(limit) bytes, without control characters")
            return
        }
    }

    private func check(_ count: Int, _ limit: Int, _ what: String) throws(DescriptorProblem) {
        guard count <= limit else {
            try refuse("\(count) \(what) are declared, and at most \(limit) may be")
            return
        }
    }

    private func refuse(_ problem: String) throws(DescriptorProblem) {
        throw DescriptorProblem("\(typeName): \(problem)")
    }
}

extension PluginLimits {
    /// The first limit that is out of its range; nil when none is.
    fileprivate var problem: String? {
        let counts: [(name: String, value: Int, range: ClosedRange<Int>)] = [
            ("evidence", evidence, 1...1_048_576), ("concurrentCalls", concurrentCalls, 1...100_000),
            ("outboundCalls", outboundCalls, 0...1000), ("storeWrites", storeWrites, 0...100_000),
            ("reply", reply, 1...1_048_576),
        ]
        if let wrong = counts.first(where: { !$0.range.contains($0.value) }) {
            return """
                the limit '\(wrong.name)' is \(wrong.value), and must be from \(wrong.range.lowerBound) to \
                \(wrong.range.upperBound)
                """
        }
        let times: [(name: String, value: Duration?, range: ClosedRange<Duration>)] = [
            ("time", time, .milliseconds(1) ... .seconds(300)), ("cpuTime", cpuTime, .milliseconds(1) ... .seconds(60)),
            ("tokenLifetime", tokenLifetime, .milliseconds(1) ... .seconds(7 * 86_400)),
        ]
        let wrong = times.first { time in time.value.map { !time.range.contains($0) } ?? false }
        return wrong.map { "the limit '\($0.name)' must be from 1 ms to \($0.range.upperBound.wholeSeconds) s" }
    }
}

extension FactType {
    /// Whether values of both are compared and checked alike.
    package func isSame(as other: FactType) -> Bool {
        guard case .words(let words) = self, case .words(let others) = other else {
            return name.isExactly(other.name)
        }
        return words.elementsEqual(others)
    }

    /// The name of the type, for messages and lists.
    package var name: String {
        switch self {
        case .text: "text"
        case .words: "words"
        case .integer: "integer"
        case .bool: "bool"
        case .instant: "instant"
        case .duration: "duration"
        case .version: "version"
        case .digest: "digest"
        }
    }
}
