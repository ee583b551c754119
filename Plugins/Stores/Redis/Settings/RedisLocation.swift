internal import AssayCore

/// Where the servers are, and how they are used: what an operator writes after `redis:` or `rediss:`.
///
///     //USER@HOST:PORT/DATABASE#OPTION=VALUE&OPTION=VALUE
///     ///PATH/OF/SOCKET#OPTION=VALUE
///
/// Errors never repeat a value, which may be a secret that was written in a wrong place.
struct RedisLocation: Sendable {
    enum Durability: Sendable { case strict, relaxed }

    /// Several with a cluster or with sentinels.
    private(set) var servers: [ServerAddress] = []
    @Exact private(set) var user: String? = nil
    private(set) var database = 0
    private(set) var password: SecretReference?
    private(set) var isSecure: Bool
    private(set) var authority: SecretReference?
    private(set) var certificate: SecretReference?
    private(set) var key: SecretReference?
    /// The name of the master that sentinels are asked for; the servers are those sentinels.
    @Exact private(set) var sentinel: String? = nil
    @Exact private(set) var sentinelUser: String? = nil
    private(set) var sentinelPassword: SecretReference?
    private(set) var durability = Durability.strict
    private(set) var replicas = 0
    var timeLimit = Duration.seconds(2)
    @Exact private(set) var prefix = "assay"

    /// - Throws: ``RedisStoreError/Code/invalidLocation``.
    init(_ text: String, isSecure: Bool) throws(RedisStoreError) {
        self.isSecure = isSecure
        let parts = text.split(onASCII: "#", maxSplits: 1)
        let options = parts.count == 2 ? try Self.options(parts[1]) : []
        for (name, value) in options { try set(name, value) }
        try readServers(parts.first ?? "")
        guard certificate == nil || key != nil, key == nil || certificate != nil else {
            throw Self.invalid("`certificate` and `key` belong together: a client certificate and its private key")
        }
        guard isSecure || (authority == nil && certificate == nil) else {
            throw Self.invalid("`ca`, `certificate` and `key` are for TLS: write rediss:// in place of redis://")
        }
        guard sentinel.isNil ? sentinelUser.isNil && sentinelPassword == nil : true else {
            throw Self.invalid("`sentinel-user` and `sentinel-password` need `sentinel=NAME`, the name of the master")
        }
        guard user.isNil || password != nil else {
            throw Self.invalid("a user needs a password: add #password=file:PATH or #password=env:NAME")
        }
    }

    /// What errors call the servers.
    var name: String { servers.map(\.description).joined(separator: ",") }

    private static func options(_ text: Substring) throws(RedisStoreError) -> [(String, String)] {
        var options: [(String, String)] = []
        for part in text.split(onASCII: "&") {
            let pair = part.split(onASCII: "=", maxSplits: 1)
            guard pair.count == 2, !pair[1].isEmpty else {
                throw invalid("after `#` come options such as password=env:NAME, with `&` between them")
            }
            guard !options.contains(where: { $0.0.isExactly(pair[0]) }) else { throw invalid("an option comes twice") }
            options.append((String(pair[0]), String(pair[1])))
        }
        return options
    }

    private mutating func set(_ name: String, _ value: String) throws(RedisStoreError) {
        switch ExactText(name) {
        case "password": password = try Self.reference(name, value)
        case "ca": authority = SecretReference(.file(value))
        case "certificate": certificate = SecretReference(.file(value))
        case "key": key = SecretReference(.file(value))
        case "sentinel": sentinel = try Self.word(name, value)
        case "sentinel-user": sentinelUser = try Self.word(name, value)
        case "sentinel-password": sentinelPassword = try Self.reference(name, value)
        case "durability":
            guard let durability = ["strict": Durability.strict, "relaxed": .relaxed][ExactText(value)] else {
                throw Self.invalid("`durability` is strict or relaxed")
            }
            self.durability = durability
        case "replicas": replicas = try Self.number(name, value, 0...15)
        case "timeout": timeLimit = .milliseconds(try Self.number(name, value, 50...60_000))
        case "db": database = try Self.number(name, value, 0...65_535)
        case "prefix": prefix = try Self.word(name, value)
        default:
            throw Self.invalid(
                "an unknown option; there are password, timeout (milliseconds), durability, replicas, db, prefix, sentinel, "
                    + "sentinel-user, sentinel-password, ca, certificate and key")
        }
    }

    private mutating func readServers(_ text: Substring) throws(RedisStoreError) {
        guard text.starts(withExactly: "//") else {
            throw Self.invalid("expected //HOST:PORT/DATABASE, as in redis://localhost:6379/0")
        }
        let rest = text.utf8.dropFirst(2)
        let parts = Substring(rest).split(onASCII: "/", maxSplits: 1)
        let path = parts.count == 2 ? parts[1] : ""
        guard var authority = parts.first, !authority.isEmpty else {
            guard !path.isEmpty else { throw Self.invalid("the URL names neither a host nor the path of a socket") }
            guard !isSecure, sentinel.isNil else {
                throw Self.invalid("a socket file has neither TLS nor sentinels: write redis:///PATH")
            }
            servers = [ServerAddress(host: "/\(path)", port: 0)]
            return
        }
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let name = authority[..<at]
            guard !name.utf8.contains(UInt8(ascii: ":")) else {
                throw Self.invalid(
                    "a password does not belong into the URL, where other users see it: write #password=file:PATH or "
                        + "#password=env:NAME")
            }
            user = name.isEmpty ? nil : try Self.word("the user", String(name))
            authority = authority[authority.utf8.index(after: at)...]
        }
        if !path.isEmpty { database = try Self.number("the database after the host", String(path), 0...65_535) }
        let port = sentinel.isNil ? 6379 : 26_379
        let servers = authority.split(onASCII: ",")
        guard servers.count <= 32 else { throw Self.invalid("more than 32 hosts") }
        for server in servers { self.servers.append(try Self.address(server, port: port)) }
    }

    private static func address(_ text: Substring, port standard: Int) throws(RedisStoreError) -> ServerAddress {
        var host = text
        var port = standard
        let end = text.utf8.lastIndex(of: UInt8(ascii: ":"))
        if let end, !text.ends(withExactly: "]") {
            host = text[..<end]
            port = try number("the port", String(text[text.utf8.index(after: end)...]), 1...65_535)
        }
        if host.starts(withExactly: "["), host.ends(withExactly: "]") {
            host = Substring(host.utf8.dropFirst().dropLast())
            guard IPAddress(host) != nil else { throw invalid("an address in brackets that is none of IPv6") }
        }
        guard !host.isEmpty, host.utf8.count <= 253,
            host.utf8.allSatisfy({ $0.isASCIILetterOrDigit || ".-_:".utf8.contains($0) })
        else { throw invalid("a host with a character that names do not have") }
        return ServerAddress(host: String(host), port: port)
    }

    private static func reference(_ name: String, _ value: String) throws(RedisStoreError) -> SecretReference {
        guard let reference = SecretReference(value) else {
            throw invalid("`\(name)` is a reference, file:PATH or env:NAME, never the secret itself")
        }
        return reference
    }

    private static func word(_ name: String, _ value: String) throws(RedisStoreError) -> String {
        guard (1...64).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "._-".utf8.contains($0) })
        else { throw invalid("`\(name)` has letters, digits and .-_ only") }
        return value
    }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(RedisStoreError)
        -> Int
    {
        guard let number = Int(value), range.contains(number) else {
            throw invalid("`\(name)` is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func invalid(_ reason: String) -> RedisStoreError {
        RedisStoreError(.invalidLocation, reason)
    }
}
