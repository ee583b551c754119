import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@testable import AssayRedis

@Suite(.serialized, .enabled(if: ServerProgram.isWanted, ServerProgram.reason)) struct OpeningTests {
    @Test(
        "a wrong location is refused with words that say what to write, and never with the secret",
        arguments: [
            ("", "expected //HOST:PORT"), ("localhost:6379", "expected //HOST:PORT"), ("//", "neither a host"),
            ("//user:hunter2@h", "#password=file:PATH"), ("//h:99999", "port"), ("//h:x", "port"),
            ("//h/x", "database"),
            ("//h/70000", "database"), ("//user@h", "a user needs a password"),
            ("//h#password=hunter2", "file:PATH or env:NAME"),
            ("//h#hunter2", "options such as"), ("//h#pasword=hunter2", "unknown option"), ("//h#timeout=1", "timeout"),
            ("//h#timeout=50&timeout=60", "twice"), ("//h#durability=hunter2", "strict or relaxed"),
            ("//h#replicas=-1", "replicas"), ("//h#prefix=a:b", "prefix"), ("//h#ca=/x", "rediss://"),
            ("//h#sentinel-user=x", "sentinel=NAME"), ("//h\n#db=1", "character"), ("//[zz]:1", "IPv6"),
            ("//a,,b", "character"),
        ])
    func locations(_ text: String, _ part: String) async {
        let found = await error { _ = try RedisLocation(text, isSecure: false) }
        #expect(found?.code == .invalidLocation)
        #expect(found?.message.contains(part) == true, "\(found as Any)")
        #expect(found?.message.contains("hunter2") == false)
    }

    @Test("a location names servers, user, database and options")
    func parts() throws {
        let location = try RedisLocation(
            "//me@a:1,[::1]:2,c/3#password=env:P&timeout=700&replicas=2&prefix=x&durability=relaxed", isSecure: true)
        #expect(location.servers.map(\.description) == ["a:1", "[::1]:2", "c:6379"])
        #expect(location.user == "me")
        #expect(location.database == 3)
        #expect(location.password == SecretReference("env:P"))
        #expect(location.timeLimit == .milliseconds(700))
        #expect(location.replicas == 2)
        #expect(location.prefix == "x")
        #expect(location.durability == .relaxed)
        let socket = try RedisLocation("///run/r.sock#db=2", isSecure: false)
        #expect(socket.servers == [ServerAddress(host: "/run/r.sock", port: 0)])
        #expect(socket.database == 2)
        #expect(try RedisLocation("//s#sentinel=m", isSecure: false).servers.map(\.port) == [26_379])
    }

    @Test("a server that cannot be reached is reported with its address and the reason")
    func unreachable() async throws {
        let port = TestServer.freePort()
        let refused = await error { _ = try await open("//127.0.0.1:\(port)") }
        #expect(refused?.code == .connectionRefused)
        #expect(refused?.message.contains("127.0.0.1:\(port)") == true)
        #expect(await code { _ = try await open("//no-such-host.invalid") } == .unknownHost)
        #expect(await code { _ = try await open("///no/such/socket") } == .cannotConnect)
        #expect(await code { _ = try await open("//h#password=env:ASSAY_NO_SUCH_VARIABLE") } != nil)
        let opening = await #expect(throws: StateStoreOpeningError.self) {
            _ = try await RedisStore.open("//127.0.0.1:\(port)", host: StorageHost())
        }
        #expect(opening?.message.hasPrefix("redis: ") == true)
    }

    private static let weak: [([String], String)] = [
        (["--appendonly", "no"], "`appendonly yes`"),
        (["--appendonly", "yes", "--appendfsync", "no"], "`appendfsync always`"),
        (
            ["--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "yes"],
            "no-appendfsync-on-rewrite"
        ),
        (
            [
                "--appendonly", "yes", "--appendfsync", "always", "--maxmemory", "100mb", "--maxmemory-policy",
                "allkeys-lru",
            ],
            "noeviction"
        ),
        (["--appendonly", "yes", "--appendfsync", "always", "--rename-command", "CONFIG", ""], "cannot be read"),
    ]

    @Test(
        "a server that may forget is refused with what to set, and with permission it is used and /readyz says so",
        .enabled(if: ServerProgram.any != nil, ServerProgram.missing), arguments: weak)
    func mayForget(_ arguments: [String], _ remedy: String) async throws {
        let server = try TestServer(try #require(ServerProgram.any), arguments)
        let refusal = await error { _ = try await open(server.location()) }
        #expect(refusal?.code == .mayForget)
        #expect(refusal?.message.contains(remedy) == true, "\(refusal as Any)")
        #expect(refusal?.message.contains("durability=relaxed") == true)
        let store = try await open(server.location("durability=relaxed"))
        #expect(try await store.insert(StateKey("s", "k"), value: [], expires: nil))
        #expect(store.caution?.contains(remedy) == true)
        await store.close()
    }

    @Test(
        "an access control list that lacks something is reported, and with what the article lists the store works",
        .enabled(if: ServerProgram.any != nil, ServerProgram.missing))
    func accessControl() async throws {
        let program = try #require(ServerProgram.any)
        let rights = [
            "~assay:*", "+ping", "+info", "+config|get", "+script|load", "+eval", "+evalsha", "+get", "+set", "+del",
            "+exists",
            "+getrange", "+zadd", "+zrem", "+zrangebylex", "+time", "+select", "+wait",
        ]
        let users =
            ["--user", "default", "off", "--user", "app", "on", ">right"] + rights + ["--user", "weak", "on", ">right"]
            + rights.filter { $0 != "+zadd" }
        let server = try TestServer(program, TestServer.durable + users, port: TestServer.freePort())
        func attempt(_ user: String, _ password: String) async -> RedisStoreError? {
            await error {
                let secrets = SecretSource { _ in Array(password.utf8) }
                let store = try await open("//\(user)@127.0.0.1:\(server.port)#password=env:P", secrets: secrets)
                _ = try await store.insert(StateKey("s", "k"), value: [], expires: nil)
                try await store.sweep()
                try await store.watch()
                await store.close()
            }
        }
        #expect(await attempt("app", "right") == nil)
        let wrong = await attempt("app", "hunter2")
        #expect(wrong?.code == .wrongCredentials)
        #expect(wrong?.message.contains("hunter2") == false)
        #expect(await attempt("nobody", "right")?.code == .wrongCredentials)
        let weak = await attempt("weak", "right")
        #expect(weak?.code == .notPermitted)
        #expect(await code { _ = try await open(server.location()) } == .wrongCredentials)
    }

    @Test(
        "TLS is verified: authority, name and client certificate",
        .enabled(if: ServerProgram.redis != nil, "redis-server is not installed: the README's command installs it"))
    func transportSecurity() async throws {
        let (files, others) = (try IdentityFiles(TestIdentity()), try IdentityFiles(TestIdentity()))
        let port = TestServer.freePort()
        let server = try TestServer(
            try #require(ServerProgram.redis),
            TestServer.durable + [
                "--tls-port", "\(port)", "--tls-cert-file", files.certificate, "--tls-key-file", files.key,
                "--tls-ca-cert-file",
                files.certificate, "--tls-auth-clients", "yes",
            ])
        defer { server.kill() }
        let own = "certificate=\(files.certificate)&key=\(files.key)"
        let store = try await open("//localhost:\(port)#ca=\(files.certificate)&\(own)", isSecure: true)
        #expect(try await store.insert(StateKey("s", "k"), value: [], expires: nil))
        await store.close()
        for (host, options) in [
            ("localhost", "ca=\(others.certificate)&\(own)"), ("localhost", own),
            ("127.0.0.1", "ca=\(files.certificate)&\(own)"),
        ] {
            let found = await error { _ = try await open("//\(host):\(port)#\(options)", isSecure: true) }
            #expect(found?.code == .certificateRejected, "\(host) \(found as Any)")
        }
        #expect(await code { _ = try await open("//localhost:\(port)#ca=\(files.certificate)", isSecure: true) } != nil)
        // Each side of the wrong scheme.
        #expect(await code { _ = try await open("//localhost:\(port)") } != nil)
        let plain = try TestServer(try #require(ServerProgram.redis), port: TestServer.freePort())
        #expect(await code { _ = try await open("//localhost:\(plain.port)", isSecure: true) } != nil)
        let missing = await error { _ = try await open("//h#ca=/no/such/file", isSecure: true) }
        #expect(missing?.code == .secretUnavailable)
    }

    @Test(
        "a server is examined, and a store that is closed is closed",
        .enabled(if: ServerProgram.any != nil, ServerProgram.missing))
    func examination() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let before = try await RedisStore.examine(server.location())
        #expect(before.problems == [])
        #expect(before.contents.contains { $0.contains("no state of Assay") })
        let store = try await open(server.location())
        _ = try await store.insert(StateKey("s", "k"), value: [], expires: nil)
        await store.close()
        #expect(await code { _ = try await store.get(StateKey("s", "k")) } == .closed)
        let after = try await RedisStore.examine(server.location())
        #expect(after.contents.contains { $0.contains("appendfsync always") })
        #expect(after.contents.contains { $0.contains("3 keys") })
        try server.ask("CONFIG", "SET", "appendfsync", "no")
        #expect(try await RedisStore.examine(server.location()).problems.count == 1)
        await #expect(throws: StateStoreOpeningError.self) { try await RedisStore.copy("", to: "/x", adding: [:]) }
    }
}
