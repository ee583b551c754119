public import AssayCore
internal import AssayKit
public import AssayPolicy
public import AssayYAML

/// The file `plugins.yaml` in the folder of policies: the plugins that run in processes of their own.
///
///     providers:
///       widget_attest:
///         command: [/opt/widgets/plugin, --verbose]
///         sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
///     consumers:
///       front_desk:
///         socket: /run/front-desk/plugin.sock
public struct PluginsFile: Sendable {
    /// The plugins in the order of their names, the providers first.
    public let plugins: [PluginSettings]

    /// Reads the file's text.
    ///
    /// - Throws: all errors in it.
    public init(_ file: PolicyFile) throws(Diagnostics) {
        let root = try YAMLDocument.parse(file.bytes, file: file.name)
        let content = try YAMLDecoder().decode(PluginsFileContent.self, from: root)
        // Only now: a misspelled key explains it better.
        var problems = ConfigurationProblems()
        for (section, entries) in [("providers", content.providers), ("consumers", content.consumers)] {
            for (name, entry) in (entries ?? [:]).sorted(by: { $0.key.precedesExactly($1.key) })
            where entry.origin == nil {
                problems.report(at: [.key(section), .key(name)], "has neither `command` nor `socket`")
            }
        }
        do throws(ConfigurationError) {
            try problems.throwIfAny()
        } catch {
            if let problems = Diagnostics(root.diagnostics(for: error, path: .root)) { throw problems }
        }
        plugins = content.settings
    }

    /// The file of a folder; nil when there is none.
    ///
    /// - Throws: all errors in it.
    public static func read(in directory: PolicyDirectory) throws(Diagnostics) -> PluginsFile? {
        guard let file = try directory.pluginsFile() else { return nil }
        return try PluginsFile(file)
    }

    /// The JSON Schema (2020-12) of the file, for completion and checks in editors.
    public static var schema: JSON {
        PolicySchema.document(
            of: PluginsFileContent.self, title: "Assay plugins",
            description:
                "The file plugins.yaml in a folder of policies: the plugins that run in processes of their own.")
    }
}

/// The keys of the file.
struct PluginsFileContent: DescribedConfiguration {
    let providers: [String: PluginEntry]?
    let consumers: [String: PluginEntry]?

    enum CodingKeys: String, CodingKey { case providers, consumers }

    static let keys: [ExactText: PolicyKey] = [
        "providers": "Providers in other processes, by their names in policies.",
        "consumers": "Consumers in other processes, by their names in policies.",
    ]

    var settings: [PluginSettings] {
        func list(_ kind: PluginKind, _ entries: [String: PluginEntry]?) -> [PluginSettings] {
            (entries ?? [:]).sorted { $0.key.precedesExactly($1.key) }.compactMap { $1.settings(kind, $0) }
        }
        return list(.provider, providers) + list(.consumer, consumers)
    }
}

/// One plugin of the file.
struct PluginEntry: DescribedConfiguration {
    /// Nil when neither key is there.
    fileprivate let origin: PluginSettings.Origin?
    private let limits: ProcessLimits

    enum CodingKeys: String, CodingKey {
        case command, sha256, user, environment, socket, restarts
        case startTime = "start_time"
        case endTime = "end_time"
        case healthInterval = "health_interval"
    }

    static let keys: [ExactText: PolicyKey] = [
        "command": PolicyKey(
            "The absolute path of the executable that Assay starts, and its arguments. It finds the path of the socket that it has to serve in the variable `ASSAY_PLUGIN_SOCKET`.",
            .notEmpty),
        "sha256": PolicyKey(
            "The SHA-256 of the executable, in hexadecimal. Another one is not started. For a script it is that of the script, if the script itself is the executable.",
            .pattern("[0-9a-fA-F]{64}")),
        "user": PolicyKey(
            "The user that the process runs as, with the groups of that user. Only a server that runs as root can choose one.",
            .pattern("[a-z_][a-z0-9_.-]{0,31}")),
        "environment":
            "The variables of the process, which has no others but `ASSAY_PLUGIN_SOCKET`. Secrets do not belong here: a key of the plugin's section can refer to one.",
        "socket": PolicyKey(
            "The absolute path of the Unix socket of a process that somebody else starts, in place of `command`.",
            .pattern("/.{1,106}")),
        "restarts": PolicyKey(
            "How often in a row the process is started again without having worked for a minute.",
            .range(0...1000), standard: 16),
        "start_time": PolicyKey(
            "How long the process may take until it answers.", .durations(.seconds(1)...Duration.seconds(120)),
            standard: "10s"),
        "end_time": PolicyKey(
            "How long the process may take to end: after the request, and again after SIGTERM. SIGKILL follows.",
            .durations(.seconds(0)...Duration.seconds(60)), standard: "3s"),
        "health_interval": PolicyKey(
            "The time between two questions about the plugin's health. After three without an answer within two seconds the process is ended, and started again.",
            .durations(.seconds(1)...Duration.seconds(300)), standard: "5s"),
    ]

    static let alternatives = [["command", "socket"]]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let words = try container.decodeIfPresent([String].self, forKey: .command)
        let digest = try container.decodeIfPresent(String.self, forKey: .sha256)
        let user = try container.decodeIfPresent(String.self, forKey: .user)
        let environment = try container.decodeIfPresent([String: String].self, forKey: .environment)
        let socket = try container.decodeIfPresent(String.self, forKey: .socket)
        var limits = ProcessLimits()
        if let restarts = try container.decodeIfPresent(Int.self, forKey: .restarts) { limits.restarts = restarts }
        if let time = try container.decodeIfPresent(Duration.self, forKey: .startTime) { limits.startTime = time }
        if let time = try container.decodeIfPresent(Duration.self, forKey: .endTime) { limits.endTime = time }
        if let time = try container.decodeIfPresent(Duration.self, forKey: .healthInterval) {
            limits.healthInterval = time
        }
        self.limits = limits
        var problems = ConfigurationProblems()
        if !(0...1000).contains(limits.restarts) {
            problems.report(at: ["restarts"], "expected a number from 0 to 1000")
        }
        func check(_ key: CodingKeys, _ time: Duration, _ range: ClosedRange<Duration>, _ text: String) {
            if !range.contains(time) { problems.report(at: [.key(key.rawValue)], "expected a duration from \(text)") }
        }
        check(.startTime, limits.startTime, .seconds(1)...Duration.seconds(120), "1s to 2m")
        check(.endTime, limits.endTime, .zero...Duration.seconds(60), "0s to 1m")
        check(.healthInterval, limits.healthInterval, .seconds(1)...Duration.seconds(300), "1s to 5m")
        if words != nil, socket != nil { problems.report("has both `command` and `socket`") }
        if let socket {
            let isAbsolute = socket.utf8.first == UInt8(ascii: "/") && (2...107).contains(socket.utf8.count)
            if !isAbsolute { problems.report(at: ["socket"], "expected an absolute path of at most 107 bytes") }
            for (key, isStated) in [
                ("sha256", digest != nil), ("user", user != nil), ("environment", environment != nil),
            ] where isStated {
                problems.report(at: [.key(key)], "has no effect without `command`")
            }
            origin = .socket(socket)
        } else if let words {
            var command = ProcessCommand(words)
            PluginEntry.check(words, problems: &problems)
            command.digest = digest.flatMap { PluginEntry.bytes(hexadecimal: $0) }
            if digest != nil, command.digest == nil {
                problems.report(at: ["sha256"], "expected 64 hexadecimal digits")
            }
            if let user, !PluginEntry.isUser(user) { problems.report(at: ["user"], "is not the name of a user") }
            command.user = user
            for (name, value) in (environment ?? [:]).sorted(by: { $0.key.precedesExactly($1.key) }) {
                if !PluginEntry.isVariable(name) {
                    problems.report(at: ["environment", .key(name)], "is not the name of a variable")
                } else if name.isExactly("ASSAY_PLUGIN_SOCKET") {
                    problems.report(at: ["environment", .key(name)], "is set by Assay")
                } else if value.utf8.contains(0) || value.utf8.count > 4096 {
                    problems.report(at: ["environment", .key(name)], "has NUL, or over 4096 bytes")
                } else {
                    command.environment.append((name, value))
                }
            }
            origin = .command(command)
        } else {
            origin = nil
        }
        try problems.throwIfAny()
    }

    func settings(_ kind: PluginKind, _ name: String) -> PluginSettings? {
        guard let origin else { return nil }
        var settings = PluginSettings(kind: kind, name: name, origin: origin)
        settings.limits = limits
        return settings
    }

    private static func check(_ words: [String], problems: inout ConfigurationProblems) {
        if words.first?.utf8.first != UInt8(ascii: "/") {
            problems.report(
                at: words.isEmpty ? ["command"] : ["command", 0], "expected the absolute path of an executable")
        }
        if words.count > 64 { problems.report(at: ["command"], "has over 64 words") }
        for (index, word) in words.enumerated() where word.utf8.contains(0) || word.utf8.count > 4096 {
            problems.report(at: ["command", .index(index)], "has NUL, or over 4096 bytes")
        }
    }

    private static func isUser(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_.-".utf8.contains($0) }
    }

    private static func isVariable(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && name.utf8.first?.isASCIIDigit == false
            && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        guard text.utf8.count == 64 else { return nil }
        let digits = Array(text.utf8)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard digits[index].isASCIILetterOrDigit, digits[index + 1].isASCIILetterOrDigit,
                let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
