package import AssayCore
package import AssayKit
package import AssayYAML

/// Entries of the deny list, in a form that is fast to search: what names a key or a token exactly is found by its value.
package struct DenyList: Sendable {
    private struct Entry: Sendable {
        let denial: Denial
        let app: ExactText?
        let project: ExactText?
        let until: Instant?

        func holds(for identity: AppIdentity, at now: Instant) -> Bool {
            (until.map { now < $0 } ?? true) && (app.map { $0 == ExactText(identity.subject) } ?? true)
                && (project.map { $0 == ExactText(identity.project.number) } ?? true)
        }
    }

    private struct FactValue: Hashable, Sendable {
        let fact: ExactText
        let value: ExactText
    }

    /// What is asked of the evidence of one provider.
    private struct OfProvider: Sendable {
        /// The types of the provider's facts that entries name by their values.
        var types: [ExactText: FactType] = [:]
        /// The entries that name one fact by its value.
        var byValue: [FactValue: [Int]] = [:]
        /// All other entries.
        var others: [(matcher: FactMatcher, entry: Int)] = []
    }

    /// Each entry with comparisons is asked for each piece of evidence.
    private static let comparisonLimit = 256

    private var entries: [Entry] = []
    private var providers: [ExactText: OfProvider] = [:]
    private var tokens: [ExactText: [Int]] = [:]
    private var attesters: [AttesterTag: [Int]] = [:]
    /// The entries whose content cannot be read, and whether they may be about evidence; all may be about tokens.
    private var unreadable: [(entry: Int, isAboutEvidence: Bool)] = []
    /// The entries about facts that no provider tells, by their places.
    package private(set) var foreign: [ExactText] = []

    /// An empty list.
    package init() {}

    /// Whether there are no entries.
    package var isEmpty: Bool { entries.isEmpty }

    /// Whether entries name attesters, so that the tags of tokens matter.
    package var namesAttesters: Bool { !attesters.isEmpty }

    /// The number of entries.
    package var count: Int { entries.count }

    /// How many entries in force are about some apps or clients: those for all, and those that name one of them.
    package func count(at now: Instant, about isMeant: (String) -> Bool) -> Int {
        entries.count { entry in
            (entry.until.map { now < $0 } ?? true) && (entry.app.map { isMeant($0.string) } ?? true)
        }
    }

    /// Reads the values of entries by the types of facts.
    ///
    /// - Parameters:
    ///   - facts: the facts of each provider of the program.
    ///   - isWhole: whether these are all providers, so that an unknown fact does not exist.
    package init(
        _ policies: [DenyPolicy], facts: [ExactText: [FactName]], isWhole: Bool, problems sink: DiagnosticSink
    ) {
        let known = Set(facts.values.flatMap(\.self).map { ExactText($0.text) } + [ExactText(RuleSet.provider)])
        var typesOfProvider: [ExactText: [ExactText: FactName]] = facts.mapValues { names in
            Dictionary(names.map { (ExactText($0.text), $0) }, uniquingKeysWith: { first, _ in first })
        }
        let names = FactType.words(facts.keys.sorted())
        for provider in facts.keys {
            typesOfProvider[provider]?[ExactText(RuleSet.provider)] = FactName(RuleSet.provider, names)
        }
        let order = facts.keys.sorted()
        var comparisons = 0
        for policy in policies {
            let index = entries.count
            entries.append(
                Entry(
                    denial: Denial(place: policy.place, note: policy.note), app: policy.app.map { ExactText($0) },
                    project: policy.project.map { ExactText($0) }, until: policy.until))
            switch policy.subject {
            case .token(let id): tokens[id, default: []].append(index)
            case .facts(let conditions):
                guard isWhole || conditions.allSatisfy({ known.contains(ExactText($0.fact)) }) else {
                    foreign.append(ExactText(policy.place))
                    continue
                }
                for condition in conditions where !known.contains(ExactText(condition.fact)) {
                    sink.report(
                        Self.unknown(
                            condition, known: known,
                            identification: DenyScope.identification(
                                facts.values.flatMap(\.self), showsOption: !policy.project.isNil)))
                }
                // What is wrong is reported once, by the first provider that has all the facts.
                let (first, others) = (DiagnosticSink(), DiagnosticSink())
                var problems = first
                var isExact = false
                for provider in order {
                    guard let types = typesOfProvider[provider],
                        conditions.allSatisfy({ types[ExactText($0.fact)] != nil })
                    else { continue }
                    isExact = add(conditions, index, provider, types, problems: problems)
                    problems = others
                }
                if let found = first.diagnostics { sink.report(found) }
                if !isWhole, first.diagnostics != nil || others.diagnostics != nil { unreadable.append((index, true)) }
                if !isExact { comparisons += 1 }
                if isWhole, comparisons == Self.comparisonLimit + 1 {
                    sink.report(
                        policy.diagnostic(
                            "at most \(Self.comparisonLimit) entries may have comparisons or several facts"))
                }
            }
        }
    }

    /// Adds an entry for the evidence of one provider; returns whether it names values of one fact.
    private mutating func add(
        _ conditions: [RulePolicy.Condition], _ index: Int, _ provider: ExactText, _ names: [ExactText: FactName],
        problems sink: DiagnosticSink
    ) -> Bool {
        let problems = DiagnosticSink()
        let matcher = FactMatcher(conditions, types: names.mapValues(\.type), unknown: nil, problems: problems)
        // Without a value that was refused, it would refuse more than it says.
        if let found = problems.diagnostics {
            sink.report(found)
            return false
        }
        guard matcher.conditions.count == 1, let only = matcher.conditions.first, only.tests.count == 1,
            case .among(let values, true)? = only.tests.first, let texts = Self.texts(values)
        else {
            providers[provider, default: OfProvider()].others.append((matcher, index))
            return false
        }
        providers[provider, default: OfProvider()].types[only.fact] = only.type
        for text in texts {
            providers[provider, default: OfProvider()].byValue[FactValue(fact: only.fact, value: text), default: []]
                .append(index)
            if let name = names[only.fact], name.identifiesAttester {
                let tag = AttesterTag(name.text, text)
                if attesters[tag]?.contains(index) != true { attesters[tag, default: []].append(index) }
            }
        }
        return true
    }

    /// Adds an entry whose content cannot be read: what it is about cannot be judged.
    ///
    /// - Parameters:
    ///   - place: its name.
    ///   - isAboutEvidence: whether it may be about evidence; if not, it is about tokens alone.
    package mutating func add(
        unreadable place: String, note: String?, app: String?, project: String, until: Instant?, isAboutEvidence: Bool
    ) {
        unreadable.append((entries.count, isAboutEvidence))
        entries.append(
            Entry(
                denial: Denial(place: place, note: note), app: app.map { ExactText($0) }, project: ExactText(project),
                until: until))
    }

    /// The places of the entries whose content cannot be read.
    package var unreadablePlaces: [ExactText] { unreadable.map { ExactText(entries[$0.entry].denial.place) } }

    private static func texts(_ values: [ComparableFact]) -> [ExactText]? {
        var texts: [ExactText] = []
        for value in values {
            guard case .text(let text) = value else { return nil }
            texts.append(text)
        }
        return texts
    }

    private static func unknown(
        _ condition: RulePolicy.Condition, known: Set<ExactText>, identification: String?
    ) -> Diagnostic {
        let names = known.map(\.string)
        let listed = names.sorted { $0.precedesExactly($1) }.map { "`\($0)`" }.joined(separator: ", ")
        return condition.entry.diagnostic(
            "no provider tells the fact `\(condition.fact)`", in: condition.path,
            hint: Spelling.guess(for: condition.fact, among: names + DenySection.CodingKeys.names)
                ?? (["known facts: \(listed)"] + [identification].compactMap(\.self)).joined(separator: "; "))
    }
}

// MARK: - Questions

extension DenyList {
    /// The entry that refuses evidence with these facts; nil for none.
    package func denial(
        of facts: [Fact], provider: String, app: AppIdentity, at now: Instant
    ) -> Denial? {
        guard let list = providers[ExactText(provider)] else { return nil }
        if !list.byValue.isEmpty {
            let all = facts + [Fact(FactName(RuleSet.provider), .text(provider))]
            for fact in all {
                let name = ExactText(fact.name.text)
                guard let type = list.types[name], case .text(let text)? = ComparableFact(fact.value, type) else {
                    continue
                }
                if let found = first(list.byValue[FactValue(fact: name, value: text)], app, now) { return found }
            }
        }
        guard !list.others.isEmpty else { return nil }
        let values = RuleSet.values(facts, provider: provider)
        for (matcher, index) in list.others where matcher.matches(values) {
            if let found = first([index], app, now) { return found }
        }
        return nil
    }

    /// An entry that may be about an app's evidence, or about its tokens, and cannot be read; nil for none.
    package func unreadable(aboutEvidence: Bool, of app: AppIdentity, at now: Instant) -> Denial? {
        guard !unreadable.isEmpty else { return nil }
        return first(unreadable.filter { !aboutEvidence || $0.isAboutEvidence }.map(\.entry), app, now)
    }

    /// The entry that refuses a token by its `jti`; nil for none.
    package func denial(ofToken id: String, app: AppIdentity, at now: Instant) -> Denial? {
        tokens.isEmpty ? nil : first(tokens[ExactText(id)], app, now)
    }

    /// The entry that refuses tokens of an attester; nil for none.
    package func denial(of attester: AttesterTag, app: AppIdentity, at now: Instant) -> Denial? {
        first(attesters[attester], app, now)
    }

    /// Whether entries may refuse tokens of an app by what a reader of records does not know: the key that a token was issued
    /// for, and perhaps its `jti`.
    package func mayDenyTokens(of app: AppIdentity, knowingID: Bool, at now: Instant) -> Bool {
        let indices = attesters.values.flatMap(\.self) + (knowingID ? [] : tokens.values.flatMap(\.self))
        return first(indices, app, now) != nil
    }

    private func first(_ indices: [Int]?, _ app: AppIdentity, _ now: Instant) -> Denial? {
        indices?.first { entries[$0].holds(for: app, at: now) }.map { entries[$0].denial }
    }
}
