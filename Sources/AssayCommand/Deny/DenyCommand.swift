internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServer

/// `assay deny`.
struct DenyCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "deny", abstract: "Deny keys and tokens at once, on all servers.",
            discussion: """
                The entries are kept in the state store, and take effect on all servers within seconds. Write lasting \
                entries in the policies, under `deny`.

                    \(program) deny add --project example-project --key-id 'R7et…' --until 7d --note 'incident 42'

                The caller needs the permission `denyList.manage`, or `admin`. Each change is an audit record with the caller's name.

                Exit codes: 0 when the server did it, 2 when it did not.
                """,
            subcommands: [DenyAddCommand.self, DenyListCommand.self, DenyRemoveCommand.self])
    }
}

/// Which deny list a command is about.
struct DenyOptions: ParsableArguments {
    @OptionGroup
    var service: ServiceOptions

    @Option(help: ArgumentHelp("The project, by its number or ID.", valueName: "project"))
    var project: String

    func validate() throws {
        guard !project.isEmpty, project.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-.:".utf8.contains($0) }) else {
            throw ValidationError("a project is named by its number or ID")
        }
    }

    var path: String { "/v1/projects/\(project)/denyEntries" }

    /// Calls the server; a failure is reported, and ends the command.
    func call<Value: Sendable>(_ body: (ServiceClient) async throws -> Value) async throws -> Value {
        do {
            return try await service.with(body)
        } catch let error where !(error is ExitCode) && !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}

/// `assay deny add`.
struct DenyAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Deny evidence by its facts, or a token by its `jti`.",
        discussion: """
            Prints the name of the entry. An entry refuses evidence that has all of its facts. A fact is compared as in `rules` of \
            policies: `--fact bundle_version=1.2.3`.
            """)

    @OptionGroup
    var options: DenyOptions

    @Option(
        help: ArgumentHelp(
            "The identifier of a key: the fact `key_id`. Where another fact identifies the attester, use --fact.",
            valueName: "key"))
    var keyID: String?

    @Option(help: ArgumentHelp("The identifier of a token.", valueName: "jti"))
    var jti: String?

    @Option(
        help: "Another fact; may be given several times.", valueName: "name=value", reading: .deniedFact)
    var fact: [DeniedFact] = []

    @Option(
        help: ArgumentHelp(
            "The app or OAuth client that the entry applies to; all of the project by default.", valueName: "app"))
    var app: String?

    @Option(
        help:
            "When the entry ends: a time such as 2027-01-01T00:00:00Z, or a duration from now such as 7d; never by default.",
        valueName: "time", reading: .future)
    var until: Instant?

    @Option(help: ArgumentHelp("Why the entry is there; records of refusals have this text.", valueName: "text"))
    var note: String?

    func validate() throws {
        guard keyID != nil || jti != nil || !fact.isEmpty else {
            throw ValidationError("--key-id, --jti or --fact says what is denied")
        }
        let names = (keyID.map { _ in ["key_id"] } ?? []) + (jti.map { _ in ["jti"] } ?? []) + fact.map(\.name)
        if let twice = names.first(where: { name in names.count { $0.isExactly(name) } > 1 }) {
            throw ValidationError("the fact '\(SafeLine.of(twice))' is given twice: one entry refuses one value of it")
        }
    }

    func run() async throws {
        var match: [JSONMember] = []
        if let keyID { match.append(JSONMember("key_id", .string(keyID))) }
        if let jti { match.append(JSONMember("jti", .string(jti))) }
        let known = (try? AssayProgram.current.registry())?.descriptors.flatMap(\.facts) ?? []
        match += fact.map { JSONMember($0.name, $0.value(among: known)) }
        var entry = [JSONMember("match", .object(match))]
        if let app { entry.append(JSONMember("app", .string(app))) }
        if let note { entry.append(JSONMember("note", .string(note))) }
        if let until { entry.append(JSONMember("expireTime", .string(until.textWithMilliseconds))) }
        let body = JSON.object(entry)
        let reply = try await options.call { try await $0.call(.post, options.path, body) }
        try Terminal.say(SafeLine.of(reply["name"]?.string ?? ""))
    }
}

/// `assay deny list`.
struct DenyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the entries that were added with `deny add`.",
        discussion: """
            Entries of the policies are not listed, only counted on standard error. One line each: the name, what is denied, the end, \
            who added it when, and why. With --format json, one JSON object each, as the API has it.
            """)

    @OptionGroup
    var options: DenyOptions

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    /// A server that never ends its list must not be believed.
    private static let pageLimit = 100

    func run() async throws {
        let (entries, others) = try await options.call { client in
            var entries: [JSON] = []
            var others: Int64 = 0
            var query = ""
            for _ in 0..<Self.pageLimit {
                let page = try await client.call(.get, options.path + query)
                entries += page["denyEntries"]?.array ?? []
                others = page["policyEntryCount"]?.integer ?? 0
                guard let next = page["nextPageToken"]?.string else { break }
                query = "?pageToken=\(Self.escaped(next))"
            }
            return (entries, others)
        }
        for entry in entries {
            switch format {
            case .json: try Terminal.say(String(decoding: entry.encoded, as: UTF8.self))
            case .text: try Terminal.say(Self.line(entry))
            }
        }
        if entries.isEmpty { Terminal.report("no entry was added with `deny add`") }
        if others > 0 {
            let words = others == 1 ? "1 entry of the policies is" : "\(others) entries of the policies are"
            Terminal.report("\(words) in force besides; see the section `deny` of the policy files")
        }
    }

    /// A text as the value of a query.
    private static func escaped(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte in
            byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte) ? [byte] : PercentCoding.encode(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func line(_ entry: JSON) -> String {
        let text = { (name: String) in entry[name]?.string.map { SafeLine.of($0) } }
        var words = [text("name") ?? "", SafeLine.of(String(decoding: entry["match"]?.encoded ?? [], as: UTF8.self))]
        if let app = text("app") { words.append("app \(app)") }
        words.append(text("expireTime").map { "until \($0)" } ?? "without an end")
        words.append("by \(text("creator") ?? "") at \(text("createTime") ?? "")")
        if let note = text("note") { words.append("\"\(note)\"") }
        return words.joined(separator: "  ")
    }
}

/// `assay deny remove`.
struct DenyRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an entry that was added with `deny add`.")

    @OptionGroup
    var options: DenyOptions

    @Argument(help: "The entry: the name that `deny add` printed, or its last part.")
    var entry: String

    func run() async throws {
        let id = entry.split(onASCII: "/").last.map(String.init) ?? ""
        guard !id.isEmpty, id.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            Terminal.report("'\(SafeLine.of(entry))' is not the name of an entry")
            throw ExitCode.couldNotRun
        }
        _ = try await options.call { try await $0.call(.delete, "\(options.path)/\(id)") }
    }
}
