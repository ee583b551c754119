internal import AssayCore

/// What a server says of itself, by `INFO` and `CONFIG GET`.
struct ServerFacts: Sendable {
    /// `Redis` or `Valkey`, and its version.
    @Exact private(set) var product: String
    @Exact private(set) var version: String
    let isMaster: Bool
    let isCluster: Bool
    let isLoading: Bool
    let hasWaitAOF: Bool
    let replicas: Int
    let memory: Int
    let keys: Int
    /// By name; nil where the server does not let its settings be read.
    let settings: [ExactText: String]?

    /// The settings that are read.
    static let names = [
        "appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save", "maxmemory", "maxmemory-policy",
        "min-replicas-to-write",
    ]

    /// The commands that ask for the facts.
    static var questions: [Command] {
        [Command("INFO")] + names.map { Command("CONFIG", "GET", $0) }
    }

    init(_ answers: [RedisReply], from server: String) throws(RedisStoreError) {
        guard let first = answers.first, answers.count == 1 + Self.names.count else {
            throw RedisStoreError(.badAnswer, "\(server): no answer to INFO")
        }
        if case .error(let error) = first { throw RedisStoreError(answer: error, from: server) }
        guard let text = first.text else { throw RedisStoreError(.badAnswer, "\(server): no answer to INFO") }
        var info: [ExactText: String] = [:]
        for line in text.split(onASCII: "\n") {
            let text = line.ends(withExactly: "\r") ? Substring(line.utf8.dropLast()) : line
            let pair = text.split(onASCII: ":", maxSplits: 1)
            if pair.count == 2 { info[ExactText(pair[0])] = String(pair[1]) }
        }
        guard let compatible = info[ExactText("redis_version")] else {
            throw RedisStoreError(.unsupportedServer, "\(server): INFO names no version: neither Redis nor Valkey")
        }
        let valkey = info[ExactText("valkey_version")]
        product = valkey.isNil ? "Redis" : "Valkey"
        version = RedisStoreError.shortened(valkey ?? compatible)
        let number = Self.number(compatible)
        guard number >= (6, 2) else {
            throw RedisStoreError(
                .unsupportedServer,
                "\(server): Redis \(RedisStoreError.shortened(compatible)) is too old; Redis 6.2 or Valkey 7.2 at least is needed"
            )
        }
        hasWaitAOF = number >= (7, 2)
        isMaster = info[ExactText("role")].isExactly("master")
        isCluster = info[ExactText("cluster_enabled")].isExactly("1")
        isLoading = info[ExactText("loading")].isExactly("1")
        replicas = Int(info[ExactText("connected_slaves")] ?? "") ?? 0
        memory = Int(info[ExactText("used_memory")] ?? "") ?? 0
        keys = info.reduce(0) { sum, entry in
            guard entry.key.string.starts(withExactly: "db"), let first = entry.value.split(onASCII: ",").first else {
                return sum
            }
            return sum &+ (Int(first.split(onASCII: "=").last ?? "") ?? 0)
        }
        settings = Self.settings(answers.dropFirst())
    }

    private static func settings(_ answers: ArraySlice<RedisReply>) -> [ExactText: String]? {
        var settings: [ExactText: String] = [:]
        for (name, answer) in zip(names, answers) {
            guard let pair = answer.elements else { return nil }
            // Older servers lack some.
            if pair.count == 2, let value = pair[1].text { settings[ExactText(name)] = value }
        }
        return settings
    }

    private static func number(_ version: String) -> (Int, Int) {
        let parts = version.split(onASCII: ".")
        return (Int(parts.first ?? "") ?? 0, parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    }
}
