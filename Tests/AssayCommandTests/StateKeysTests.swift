import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("Keys of several servers in their state store")
struct StateKeysTests {
    private static let state = ["--state", "sqlite:state.sqlite"]

    private func run(_ arguments: [String], in folder: URL) async throws -> AssayProcess.Result {
        try await AssayProcess(arguments, folder: folder).result()
    }

    private func kids(_ server: AssayServer) async throws -> [String] {
        try await server.get("/v1/jwks").body["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    @Test("Two servers share their keys under a master key, which is replaced while they run")
    func servers() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            var ids: [String] = []
            for name in ["old", "new"] {
                let made = try await run(["keys", "master", "--new", "file:\(name)"], in: folder)
                #expect(made.status == 0, "\(made.errors)")
                let shown = try await run(["keys", "master", "file:\(name)"], in: folder)
                #expect(shown.output == made.output)
                ids.append(made.lines[0])
            }
            #expect(ids[0] != ids[1])
            let again = try await run(["keys", "master", "--new", "file:old"], in: folder)
            #expect(again.status == 2)
            #expect(again.errors.contains("old exists already: nothing was written"))

            let (old, new) = (["--keys", "state:file:old"], ["--keys", "state:file:new"])
            // An empty database may be the wrong one: a server makes no keys in it, however often it is started.
            for _ in 0..<2 {
                let none = try await run(["serve", "--listen", "127.0.0.1:0"] + Self.state + old, in: folder)
                #expect(none.status == 2)
                #expect(none.errors.contains("there are no keys in state:file:old"), "\(none.errors)")
                #expect(none.errors.contains("assay keys init"), "\(none.errors)")
            }
            let first = try await run(["keys", "init"] + Self.state + old, in: folder)
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.lines.count == 2)
            let twice = try await run(["keys", "init"] + Self.state + old, in: folder)
            #expect(twice.status == 1)
            #expect(twice.errors.contains("there are keys already"), "\(twice.errors)")
            let flag = try await run(["serve", "--listen", "127.0.0.1:0", "--new-keys"] + Self.state + old, in: folder)
            #expect(flag.status == 2)
            #expect(flag.errors.contains("start without --new-keys"), "\(flag.errors)")
            async let starting = AssayServer(in: folder, arguments: old)
            let (one, second) = (try await AssayServer(in: folder, arguments: old), try await starting)
            let made = try await kids(one)
            #expect(made.count == 1)
            #expect(try await kids(second) == made)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "state.sqlite-keys").path))

            // With another master key none starts, and none is taken for the first.
            let wrong = try await run(["serve", "--listen", "127.0.0.1:0"] + Self.state + new, in: folder)
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("wrapped by the master key \(ids[0])"), "\(wrong.errors)")

            let added = try await run(["keys", "wrap", "add", "file:new"] + Self.state + old, in: folder)
            #expect(added.status == 0, "\(added.errors)")
            #expect(added.lines == ["\(ids[0]) (of --keys)", ids[1]])
            _ = await second.end(SIGTERM)
            let third = try await AssayServer(in: folder, arguments: new)
            #expect(try await kids(third) == made)
            let prepared = try await run(["keys", "prepare"] + Self.state + new, in: folder)
            #expect(prepared.status == 0, "\(prepared.errors)")
            let start = ContinuousClock.now
            while try await kids(one).count < 2, ContinuousClock.now - start < .seconds(20) {
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(try await kids(one).count == 2, "the server with the old master key takes changes up")
            _ = await one.end(SIGTERM)

            let removed = try await run(["keys", "wrap", "remove", ids[0]] + Self.state + new, in: folder)
            #expect(removed.lines == ["\(ids[1]) (of --keys)"], "\(removed.errors)")
            let late = try await run(["keys", "list"] + Self.state + old, in: folder)
            #expect(late.status == 2)
            #expect(late.errors.contains("the one that was given is \(ids[0])"))
            #expect(try await run(["keys", "list"] + Self.state + new, in: folder).lines.count == 4)
            _ = await third.end(SIGTERM)
        }
    }

    @Test("The keys of a folder are imported, and a server continues with them; without them it does not start")
    func importing() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            let before = try await AssayServer(in: folder)
            let made = try await kids(before)
            // The state remembers the keys with the first decision.
            _ = try await before.challenge()
            _ = await before.end(SIGTERM)
            let new = ["--keys", "state:file:master"]
            #expect(try await run(["keys", "master", "--new", "file:master"], in: folder).status == 0)
            let empty = try await run(["serve", "--listen", "127.0.0.1:0"] + Self.state + new, in: folder)
            #expect(empty.status == 2)
            #expect(empty.errors.contains("keys are lost"), "\(empty.errors)")
            let imported = try await run(["keys", "import", "state.sqlite-keys"] + Self.state + new, in: folder)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(imported.output == "2 keys of state.sqlite-keys were imported\n")
            #expect(try await run(["keys", "import", "state.sqlite-keys"] + Self.state + new, in: folder).status == 2)
            try FileManager.default.removeItem(at: folder.appending(path: "state.sqlite-keys"))
            let after = try await AssayServer(in: folder, arguments: new)
            #expect(try await kids(after) == made)
            _ = try await after.challenge()
            _ = await after.end(SIGTERM)
            // Forgetting the keys would stop the servers that use them.
            let without = try await run(["serve", "--listen", "127.0.0.1:0"] + Self.state, in: folder)
            #expect(without.status == 2)
            #expect(without.errors.contains("--keys state:MASTERKEY"), "\(without.errors)")
            #expect(!without.errors.contains("--forget-key"))
        }
    }

    @Test(
        "What names no master key is refused, and is not repeated where it may be one",
        arguments: [
            ["keys", "master", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
            ["keys", "wrap", "list", "--keys", "folder"], ["keys", "wrap", "list"],
            ["keys", "wrap", "list", "--keys", "state:0123456789abcdef"],
            ["keys", "wrap", "remove", "xyz", "--keys", "state:file:none"],
        ])
    func problems(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(arguments, in: folder)
            #expect(result.status == 2)
            #expect(!result.errors.contains("0123456789abcdef"))
        }
    }
}
