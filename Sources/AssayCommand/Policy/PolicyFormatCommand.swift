internal import ArgumentParser
internal import AssayCore
internal import AssayPolicy
internal import AssayYAML

/// `assay policy fmt`.
struct PolicyFormatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmt", abstract: "Give policy files one layout, and change nothing else of them.",
        discussion: """
            Formats every *.yaml and *.yml file of a folder, plugins.yaml included, or single files, in place, and prints \
            the names of those that changed. Levels are indented by two spaces, the items of lists under a key too; there \
            is one space after `:` and `,` and none within brackets, two before a comment at the end of a line, and at \
            most one empty line in a row; lines end with LF. Comments, the order of keys, quotes, line breaks, blocks of \
            text and anchors stay as they are.

            The result is read again before a file is replaced: a file that would have another meaning, or that is no \
            valid YAML, is reported with its place and left alone. A file is replaced as a whole, with its mode and owner; \
            a symbolic link is followed.

            Exits with 0 when all is well, with 1 when a file cannot be formatted or `--check` finds one that is not, and \
            with 2 when a file cannot be read or written.

            With --format json, standard output has one JSON object a line: {"file", "changed"} for each file, and {"file", \
            "error", "line", "column", "path", "hint"} for each problem; a member without a value is null.
            """)

    @Argument(help: ArgumentHelp("Folders, files, or `-` for standard input to standard output.", valueName: "path"))
    var paths = ["policies"]

    @Flag(help: "Change nothing, print the names of the files that would change, and exit with 1 if there are any.")
    var check = false

    @Flag(help: "Change nothing, and print what would change as a unified diff.")
    var diff = false

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    func validate() throws {
        let readsInput = paths.contains(exactly: Self.input)
        if readsInput, paths.count > 1 { throw ValidationError("`-` cannot be used with other paths") }
        if diff, format == .json { throw ValidationError("--diff has no JSON form") }
        if readsInput, format == .json, !check { throw ValidationError("`-` with --format json needs --check") }
    }

    func run() throws {
        var outcome = Outcome()
        for path in paths {
            if path.isExactly(Self.input) {
                try formatInput(&outcome)
                continue
            }
            do {
                let files = ReplaceableFile.isFolder(path) ? try PolicyDirectory(path).paths() : [path]
                for file in files { try formatFile(file, &outcome) }
            } catch let problems as Diagnostics {
                outcome.couldNotRun = true
                try report(problems, of: path)
            }
        }
        if outcome.couldNotRun { throw ExitCode.couldNotRun }
        if outcome.refused || check && outcome.changed { throw ExitCode.refused }
    }

    private static let input = "-"
    private static let inputName = "standard input"

    private struct Outcome {
        var changed = false
        var refused = false
        var couldNotRun = false
    }

    private func formatFile(_ path: String, _ outcome: inout Outcome) throws {
        do {
            let file = try ReplaceableFile(path)
            guard let text = try formatted(file.bytes, path, &outcome) else { return }
            if !check, !diff, text != file.bytes { try file.replace(with: text) }
            try say(path, file.bytes, text, &outcome)
        } catch let failure as FileFailure {
            outcome.couldNotRun = true
            try report(Diagnostics(Diagnostic(file: path, location: nil, message: failure.message)), of: path)
        }
    }

    private func formatInput(_ outcome: inout Outcome) throws {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try ReplaceableFile.input(limit: YAMLLimits.default.bytes)
        } catch {
            throw OutputError(description: error.message)
        }
        guard let text = try formatted(bytes, Self.inputName, &outcome) else { return }
        if check || diff { return try say(Self.inputName, bytes, text, &outcome) }
        try Terminal.put(text)
    }

    /// The formatted text; nil after a report when there is none.
    private func formatted(_ bytes: [UInt8], _ name: String, _ outcome: inout Outcome) throws -> [UInt8]? {
        do throws(Diagnostics) {
            return try YAMLFormatter.format(bytes, file: name)
        } catch {
            outcome.refused = true
            try report(error, of: name)
            return nil
        }
    }

    private func say(_ name: String, _ old: [UInt8], _ new: [UInt8], _ outcome: inout Outcome) throws {
        let isChanged = old != new
        if isChanged { outcome.changed = true }
        switch format {
        case .json: try say(["file": .string(name), "changed": .bool(isChanged)])
        case .text where !isChanged: break
        case .text where diff: try Terminal.put(UnifiedDiff.text(from: old, to: new, file: name))
        case .text: try Terminal.say(name)
        }
    }

    private func report(_ problems: Diagnostics, of name: String) throws {
        guard format == .json else { return Terminal.note(problems.description) }
        for problem in problems.all {
            try say([
                "file": .string(problem.file ?? name), "error": .string(problem.message),
                "line": problem.location.map { .integer(Int64($0.line)) } ?? .null,
                "column": problem.location.map { .integer(Int64($0.column)) } ?? .null,
                "path": problem.path.isEmpty ? .null : .string(problem.path),
                "hint": problem.hint.map { .string($0) } ?? .null,
            ])
        }
    }

    private func say(_ line: JSON) throws {
        try Terminal.say(String(decoding: line.encoded, as: UTF8.self))
    }
}
