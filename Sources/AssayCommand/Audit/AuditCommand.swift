internal import ArgumentParser
internal import AssayCore
internal import AssayServices

/// `assay audit`.
struct AuditCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "audit", abstract: "Check audit files for changes, list events, and index files for look-ups.",
            discussion: """
                PATH is an audit file, which stands for its rotated files as well; a folder of audit files; or a pattern. Files \
                compressed with gzip are read as they are.
                """,
            subcommands: [AuditVerifyCommand.self, AuditEventsCommand.self, AuditIndexCommand.self])
    }
}

/// `assay audit verify`.
struct AuditVerifyCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "verify",
            abstract: "Find lines of audit files that were removed, changed, inserted, moved or repeated.",
            discussion: """
                Each line of an audit file has a number and a hash over the line before it. The hash has no secret: who can \
                change the files can also compute the chain anew, or remove its end. Only a head that was kept elsewhere shows \
                that: give each as --expect SEQ:CHAIN. The server writes them to the log at each rotation and at its end, and the number \
                to the metric assay_audit_sequence.

                A chain begins with line 1, or after the lines that the server removed by --audit-keep, as a line of the chain \
                says. Any other beginning is a finding: lines are missing. If another program removed old files, or \
                they are kept elsewhere, give the head of the last of them as --after SEQ:CHAIN.

                Exit codes: 0 when the files are intact, 1 when they are not, have no record of a server or cannot be read to their \
                end, 2 when the command could not run.
                """)
    }

    @Argument(help: ArgumentHelp("Audit files, folders or patterns.", valueName: "path"))
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "A line that must be there: its number and its chain value; may be given several times.",
            valueName: "seq:chain"))
    var expect: [String] = []

    @Option(
        help: ArgumentHelp(
            "A line that the files may begin after: its number and its chain value; may be given several times.",
            valueName: "seq:chain"))
    var after: [String] = []

    @Option(help: "The format of the result.")
    var format = AuditFormat.text

    func run() throws {
        let (expected, given) = (try heads(expect, of: "--expect"), try heads(after, of: "--after"))
        let verification: AuditVerification
        do {
            verification = try AuditVerification(paths, expecting: expected, after: given)
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
        switch format {
        case .json: try Terminal.say(PrettyJSON.text(of: verification.message))
        case .text: for line in verification.text { try Terminal.say(line) }
        }
        for folder in verification.emptyFolders { Terminal.report("no audit file in \(folder)") }
        guard verification.isIntact else { throw ExitCode.refused }
    }

    private func heads(_ texts: [String], of option: String) throws -> [AuditChain.Head] {
        try texts.map { text in
            guard let head = AuditChain.Head(text) else {
                Terminal.report("\(option) takes SEQ:CHAIN, such as the log of the server has them")
                throw ExitCode.couldNotRun
            }
            return head
        }
    }
}

/// How results are printed.
enum AuditFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

extension AuditVerification {
    /// The result for people.
    var text: [String] {
        var lines = verifier.findings.map { finding in
            let place = finding.place.map { "\(shown($0.file)):\($0.line): " } ?? ""
            return "\(place)\(shown(finding.words))"
        }
        if verifier.omitted > 0 { lines.append("and \(verifier.omitted) more") }
        for chain in verifier.chains {
            let before =
                switch chain.beginning {
                case .start: ""
                case .removed: ", whose earlier lines the server removed as --audit-keep says,"
                case .given: ", whose earlier lines are known from elsewhere,"
                case .missing: ", whose beginning is not there,"
                }
            lines.append(
                "a chain\(before) of lines \(chain.first) to \(chain.last.sequence), from \(shown(chain.begin.file)):\(chain.begin.line); "
                    + "its head is \(chain.last)")
        }
        let counts =
            [count(verifier.lines, "line"), count(files, "file")].joined(separator: " in ")
            + (verifier.torn > 0 ? "; \(count(verifier.torn, "line")) torn by a crash" : "")
            + (verifier.outside > 0 ? "; \(count(verifier.outside, "line")) from before the chain began" : "")
        lines.append("\(isIntact ? "intact" : "NOT intact"): \(counts)")
        return lines
    }

    private func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

    /// The result for programs.
    var message: JSON {
        let findings = verifier.findings.map { finding -> JSON in
            var members = [JSONMember("problem", .string(finding.problem.rawValue))]
            if let place = finding.place {
                members.append(JSONMember("file", .string(place.file)))
                members.append(JSONMember("line", .integer(Int64(place.line))))
            }
            members.append(JSONMember("message", .string(finding.words)))
            if let missing = finding.missing {
                members.append(JSONMember("first_missing", .integer(Int64(clamping: missing.lowerBound))))
                members.append(JSONMember("last_missing", .integer(Int64(clamping: missing.upperBound))))
            }
            return .object(members)
        }
        let chains = verifier.chains.map { chain -> JSON in
            [
                "file": .string(chain.begin.file), "line": .integer(Int64(chain.begin.line)),
                "first_seq": .integer(Int64(clamping: chain.first)),
                "last_seq": .integer(Int64(clamping: chain.last.sequence)), "last_chain": .string(chain.last.value),
                "from_start": .bool(chain.beginning == .start), "beginning": .string(chain.beginning.rawValue),
            ]
        }
        return [
            "intact": .bool(isIntact), "files": .integer(Int64(files)), "lines": .integer(Int64(verifier.lines)),
            "torn": .integer(Int64(verifier.torn)), "outside": .integer(Int64(verifier.outside)),
            "chains": .array(chains), "findings": .array(findings), "omitted": .integer(Int64(verifier.omitted)),
        ]
    }

    /// Names of files may come from archives of strangers.
    private func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
    }
}
