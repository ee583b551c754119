import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTestSupport
import Foundation
import Logging
import Testing

@Suite("assay keys")
struct KeysTests {
    /// Keys of a service, made as `assay serve` makes them at its first start.
    private func makeKeys(in folder: URL) throws {
        _ = try Engine(
            registry: Registry([]), policies: .load([PolicyFile(name: "a.yaml", text: "tokens: {algorithm: ES256}")]),
            keys: .directory(folder.appendingPathComponent("keys").path),
            host: PluginHost(
                store: MemoryStore(clock: .system),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
    }

    private func keys(in folder: URL, _ arguments: String...) async throws -> AssayProcess.Result {
        try await keys(in: folder, arguments)
    }

    private func keys(in folder: URL, _ arguments: [String]) async throws -> AssayProcess.Result {
        let (command, rest) = (arguments.prefix(1), arguments.dropFirst())
        let process = try AssayProcess(["keys"] + command + ["--keys", "keys"] + rest, folder: folder)
        return await process.result()
    }

    private func list(in folder: URL) async throws -> [JSON] {
        let result = try await keys(in: folder, "list", "--format", "json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.count == 1)
        return try #require(JSON.parse(Array(result.output.utf8))["keys"]?.array)
    }

    @Test("The keys that verify tokens are exported, all or one, until they verify none")
    func export() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            #expect(try await keys(in: folder, "prepare").status == 0)
            let found = try await list(in: folder).filter { $0["kind"] == "signing" }.compactMap { $0["kid"]?.string }
            #expect(found.count == 2)
            let document = try await keys(in: folder, "export")
            #expect(document.status == 0, "\(document.errors)")
            #expect(document.lines.count == 1)
            let set = try JWKSet(json: Array(document.output.utf8))
            #expect(set.keys.map(\.keyID) == found)
            #expect(!document.output.contains("\"d\""))

            let all = try await keys(in: folder, "export", "--format", "pem").output
            let blocks = try set.keys.map { String(decoding: try $0.publicKey.pem(), as: UTF8.self) }
            #expect(all == blocks.joined())
            #expect(try await keys(in: folder, "export", "--format", "pem", "--", found[1]).output == blocks[1])

            #expect(try await keys(in: folder, "revoke", "--", found[0]).status == 0)
            let withdrawn = try await keys(in: folder, "export", "--", found[0])
            #expect(withdrawn.status == 1)
            #expect(withdrawn.output.isEmpty)
            #expect(withdrawn.errors.contains("unknown published key \(found[0])"))
            let rest = try JWKSet(json: Array(try await keys(in: folder, "export").output.utf8))
            #expect(rest.keys.map(\.keyID) == [found[1]])
        }
    }

    @Test("A signing key is prepared, may not be activated yet, is activated anyway, and one that leaked revoked")
    func lifetime() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let first = try #require(try await list(in: folder).first?["kid"]?.string)
            let prepared = try await keys(in: folder, "prepare")
            #expect(prepared.status == 0)
            #expect(prepared.output.contains("(ES256, 256 bits) is prepared: may be activated from 20"))
            let second = try #require(try await list(in: folder).first?["kid"]?.string)

            let early = try await keys(in: folder, "activate", second)
            #expect(early.status == 1)
            #expect(early.errors.contains("\(second) may be activated from 20"))
            #expect(try await keys(in: folder, "retire", first).status == 1)
            let activated = try await keys(in: folder, "activate", second, "--now")
            #expect(activated.status == 0)
            #expect(activated.output.contains("\(second) (ES256, 256 bits) is active: signs until another is"))
            #expect(try await keys(in: folder, "activate", first).status == 1, "it is retired for good")
            #expect(try await keys(in: folder, "retire", first).output.contains("is retired: published until 20"))

            let revoked = try await keys(in: folder, "revoke", second)
            #expect(revoked.status == 0)
            #expect(revoked.lines.count == 2)
            #expect(revoked.lines.last?.contains("is active") == true, "it says what signs from now on")
            #expect(
                try await list(in: folder).map { $0["state"]?.string }
                    == ["active", "revoked", "retired", "active"])
        }
    }

    @Test("A key that is prepared to begin by itself is not prepared twice", arguments: [[], ["--sealing"]])
    func preparedOnce(_ options: [String]) async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let count = try await list(in: folder).count
            let first = try await keys(in: folder, ["prepare", "--auto"] + options)
            #expect(first.status == 0)
            let second = try await keys(in: folder, ["prepare", "--auto"] + options)
            #expect(second.status == 0)
            #expect(second.output == first.output)
            #expect(try await list(in: folder).count == count + 1)
            // Sooner than the one that is there is another wish, and cannot be granted silently.
            let sooner = try await keys(in: folder, ["prepare", "--auto", "--lead", "1s"] + options)
            #expect(sooner.status == 1)
            #expect(sooner.errors.contains("is prepared already"), "\(sooner.errors)")
            #expect(try await list(in: folder).count == count + 1)
            // Without --auto another may wait beside it.
            #expect(try await keys(in: folder, ["prepare"] + options).status == 0)
            #expect(try await list(in: folder).count == count + 2)
        }
    }

    @Test("A sealing key is prepared with a lead of its own, and revoked only by an operator who says what that costs")
    func sealing() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            #expect(try await keys(in: folder, "prepare", "--sealing", "--auto").status == 0)
            let entries = try await list(in: folder).filter { $0["kind"] == "sealing" }
            let key = try #require(entries.first)
            #expect(key["state"] == "prepared")
            #expect(key["next"]?["event"] == "begins")
            let times = try [key["created"], key["ready"], key["next"]?["at"]].map {
                try #require(($0?.string).flatMap { Instant(rfc3339: $0) })
            }
            #expect(times[1] == times[0] + .seconds(600))
            #expect(times[2] == times[1])
            let kid = try #require(key["kid"]?.string)
            let refused = try await keys(in: folder, "revoke", kid)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("would have to attest again"))
            #expect(try await keys(in: folder, "activate", kid, "--now").status == 0)
            let retired = try #require(entries.last?["kid"]?.string)
            #expect(try await keys(in: folder, "retire", retired).output.contains("opens what it sealed, forever"))
            let revoked = try await keys(in: folder, "revoke", "--losing-devices", kid)
            #expect(revoked.status == 0)
            #expect(revoked.lines.first?.contains("opens nothing since") == true)
            #expect(revoked.lines.last?.contains("is active") == true, "it says what seals from now on")
        }
    }

    @Test("A key of another kind, and a lead in the spelling of policies")
    func options() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let short = try await keys(
                in: folder, "prepare", "--algorithm", "RS256", "--rsa-bits", "3072", "--lead", "1h30m")
            #expect(short.status == 0)
            #expect(short.errors.contains("with a lead of less than 6h"))
            let key = try #require(try await list(in: folder).first)
            #expect(key["algorithm"] == "RS256")
            #expect(key["bits"] == 3072)
            let created = try #require((key["created"]?.string).flatMap { Instant(rfc3339: $0) })
            #expect(key["ready"]?.string == (created + .seconds(5400)).description)
            #expect(key["next"]?["event"] == "activatable")
            #expect(try await keys(in: folder, "prepare", "--lead", "6h").errors.isEmpty)
        }
    }

    @Test("The list shows no key material, in columns or as JSON")
    func noSecrets() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let text = try await keys(in: folder, "list")
            #expect(text.status == 0)
            #expect(text.lines.count == 3)
            #expect(text.lines.first?.hasPrefix("KIND") == true)
            let file = try JSON.parse(
                Array(Data(contentsOf: folder.appendingPathComponent("keys/keys.json"))),
                limits: JSON.Limits(bytes: 1 << 20))
            let secret = try #require(file["sealing"]?.array?.first?["secret"]?.string)
            let pem = try #require(file["signing"]?.array?.first?["pem"]?.string).split(separator: "\n")
            let all = try await text.output + keys(in: folder, "list", "--format", "json").output
            for line in [secret[...]] + pem { #expect(!all.contains(line)) }
        }
    }

    @Test(
        "What cannot be done at all ends with 2, and makes nothing",
        arguments: [
            (["list"], "does not exist"), (["prepare"], "does not exist"), (["activate", "abc"], "does not exist"),
            (["prepare", "--lead", "90"], "--lead"), (["prepare", "--lead", "31d"], "--lead"),
            (["prepare", "--algorithm", "none"], "--algorithm"), (["prepare", "--rsa-bits", "1024"], "2048 or 3072"),
            (["prepare", "--algorithm", "ES256", "--rsa-bits", "2048"], "has no effect"),
            (["prepare", "--sealing", "--algorithm", "ES256"], "signing keys"), (["activate"], "kid"),
            (["list", "--format", "xml"], "--format"),
        ])
    func unusable(_ arguments: [String], _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let result = await (try AssayProcess(["keys"] + arguments, folder: folder)).result()
            #expect(result.status == 2)
            #expect(result.errors.contains(words))
            #expect(result.output.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("An unknown key ends with 2; a damaged file is refused and left alone")
    func unknown() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let unknown = try await keys(in: folder, "activate", "nix\u{1B}[2J")
            #expect(unknown.status == 2)
            #expect(!unknown.errors.contains("\u{1B}"))
            let file = folder.appendingPathComponent("keys/keys.json")
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 100)
            try handle.close()
            for arguments in [["list"], ["prepare"]] {
                let result = await (try AssayProcess(["keys"] + arguments + ["--keys", "keys"], folder: folder))
                    .result()
                #expect(result.status == 2)
                #expect(result.errors.contains("damaged"))
            }
            #expect(try Data(contentsOf: file).count == 100)
        }
    }

    @Test("Without --keys the folder is found as `assay serve` finds it")
    func standardFolder() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            try FileManager.default.moveItem(
                at: folder.appendingPathComponent("keys"), to: folder.appendingPathComponent("a.sqlite-keys"))
            #expect(
                try await AssayProcess.run("keys", "list", "--state", "sqlite:a.sqlite", folder: folder).status == 0)
            #expect(try await AssayProcess.run("keys", "list", folder: folder).status == 2)
            let memory = try await AssayProcess.run(
                "keys", "list", "--state", "memory", environment: ["XDG_STATE_HOME": "/proc/no/such/file"],
                folder: folder)
            #expect(memory.errors.contains("/proc/no/such/file/assay/keys"))
        }
    }

    @Test("Of commands at the same time none is lost, and one that is killed leaves the old keys or the new ones")
    func together() async throws {
        try await withTemporaryFolder { folder in
            try makeKeys(in: folder)
            let before = try await list(in: folder)
            let running = try (0..<4).map { _ in
                try AssayProcess(["keys", "prepare", "--sealing", "--keys", "keys"], folder: folder)
            }
            for process in running { #expect(await process.result().status == 0) }
            #expect(try await list(in: folder).count == before.count + 4)

            for delay in [0, 4, 8, 12, 16, 24, 40] {
                let process = try AssayProcess(["keys", "prepare", "--sealing", "--keys", "keys"], folder: folder)
                try await Task.sleep(for: .milliseconds(delay))
                kill(process.process.processIdentifier, SIGKILL)
                _ = await process.result()
                let after = try await list(in: folder)
                #expect(before.allSatisfy { key in after.contains { $0["kid"] == key["kid"] } })
            }
            #expect(try await keys(in: folder, "prepare", "--sealing").status == 0, "no lock is left behind")
        }
    }
}
