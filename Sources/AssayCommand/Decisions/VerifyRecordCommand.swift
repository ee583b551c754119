internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
public import AssayKit
public import AssayPolicy
internal import AssayServer
internal import AssayYAML

/// What explains captured evidence of one provider step by step, for `PROGRAM verify record`.
public struct EvidenceExplainer: Sendable {
    let provider: String
    let explain: @Sendable (CapturedEvidence, AppPolicy) throws -> Explanation

    /// An explanation for people.
    public struct Explanation: Sendable {
        /// Whether the evidence itself is genuine.
        public let isVerified: Bool
        /// The steps, in lines.
        public let text: String

        /// Makes an explanation from lines for people.
        public init(isVerified: Bool, text: String) {
            self.isVerified = isVerified
            self.text = text
        }
    }

    /// Makes an explainer.
    ///
    /// - Parameters:
    ///   - provider: the name of the provider in policies.
    ///   - explain: explains evidence of an app, with the app's policy; it throws, with words for an operator, when it
    ///     cannot.
    public init(
        _ provider: String, _ explain: @escaping @Sendable (CapturedEvidence, AppPolicy) throws -> Explanation
    ) {
        self.provider = provider
        self.explain = explain
    }
}

/// `assay verify record`.
struct VerifyRecordCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "record", abstract: "Explain one record of captured evidence.",
            discussion: """
                Decrypts the record, and shows what was decided. If the provider can explain its evidence, as `app_attest` \
                can, each check follows in its order, with the expected and the found value; the policies say what the app is \
                and which authority it trusts. `\(program) decisions replay` judges evidence of every provider as a server \
                would.

                With --content, the decrypted record is printed instead, as JSON: it may have secrets, such as debug tokens.

                Exits with 0 when the evidence is verified, with 1 when it is refused, and with 2 when it could not run.
                """)
    }

    @Argument(help: "A file of captured evidence, or a folder.")
    var file: String

    @OptionGroup var selection: EvidenceSelection

    @Option(help: "The folder of the policies that the app is in.")
    var policies = "policies"

    @Flag(help: "Print the decrypted record as JSON, and nothing else.")
    var content = false

    func validate() throws {
        if selection.decision.isNil { throw ValidationError("say with --decision which record is meant") }
    }

    func run() async throws {
        do {
            let evidence = try await record()
            if content { return try Terminal.say(String(decoding: evidence.json.encoded, as: UTF8.self)) }
            for line in Self.head(evidence) { try Terminal.say(line) }
            let explainers = AssayProgram.current.commands.compactMap(\.explainer)
            guard let explainer = explainers.first(where: { $0.provider.isExactly(evidence.provider) }) else {
                throw EvidenceFileError(
                    "the provider \(SafeText.of(evidence.provider)) does not explain evidence; judge it with "
                        + "`\(AssayProgram.current.name) decisions replay`")
            }
            let explanation = try explainer.explain(evidence, try await app(of: evidence))
            try Terminal.say(explanation.text)
            if !explanation.isVerified { throw ExitCode.refused }
            if let reason = evidence.reason {
                try Terminal.say(
                    "The evidence itself is genuine: it was refused for \(SafeText.of(reason)), which is about the policy, "
                        + "the state or the challenge.")
            }
        } catch let error where !(error is ExitCode) && !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    /// The record of the decision.
    private func record() async throws -> CapturedEvidence {
        var found: CapturedEvidence?
        var unreadable = UnreadableRecords()
        try await EvidencePaths([file]).read(
            with: EvidenceKey.read(selection.key), wants: selection.wants
        ) { record in
            switch record {
            case .evidence(let evidence): found = found ?? evidence
            case .unreadable(let place, let problem): unreadable.add(problem, at: place)
            case .repeated: break
            }
        }
        for line in unreadable.lines { Terminal.report(line) }
        guard let found else { throw EvidenceFileError("no record of this decision can be read") }
        return found
    }

    /// The policy of the app that evidence is of.
    private func app(of evidence: CapturedEvidence) async throws -> AppPolicy {
        let directory = PolicyDirectory(policies)
        return try await PluginProcesses.with(in: directory) { registry in
            let policies = directory.read().reading(registry.platforms)
            if let problems = policies.problems { throw problems }
            guard let app = policies.apps.first(where: { $0.identity.resource.isExactly(evidence.resource) }) else {
                throw EvidenceFileError("the policies have no app \(SafeText.of(evidence.resource))")
            }
            return app
        }
    }

    private static func head(_ evidence: CapturedEvidence) -> [String] {
        var outcome = evidence.reason.map { "refused: \(SafeText.of($0))" } ?? "issued"
        if let detail = evidence.detail { outcome += " (\(SafeText.of(detail, limit: 1000)))" }
        return [
            "decision  \(SafeText.of(evidence.decision.text))", "time      \(evidence.time.textWithMilliseconds)",
            "app       \(SafeText.of(evidence.resource))",
            "method    \(SafeText.of(evidence.method)) of \(SafeText.of(evidence.provider))", "outcome   \(outcome)",
            "policies  \(SafeText.of(evidence.revision))",
        ]
    }
}
