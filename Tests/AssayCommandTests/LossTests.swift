import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("What an operator can lose")
struct LossTests {
    private let authority: SimulatedAppleCA
    private let device: SimulatedDevice

    init() throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
        device = SimulatedDevice(authority: authority)
    }

    /// A server that has attested a device, and what the device holds.
    private func attested(in folder: URL) async throws -> (AssayServer, keyID: String, artifact: [UInt8]) {
        try AssayServer.writePolicy(in: folder, trusting: authority)
        let server = try await AssayServer(in: folder)
        let keyID = try device.generateKey()
        let reply = try await server.attest(device, keyID, challenge: server.challenge())
        return (server, keyID, try #require(reply.body["artifact"]?.string.flatMap { Base64.decode($0) }))
    }

    private func move(_ name: String, to other: String, in folder: URL) throws {
        try FileManager.default.moveItem(
            at: folder.appendingPathComponent(name), to: folder.appendingPathComponent(other))
    }

    private func start(in folder: URL, _ arguments: String...) async throws -> AssayProcess.Result {
        try await AssayProcess(
            ["serve", "--listen", "127.0.0.1:0", "--state", "sqlite:state.sqlite"] + arguments, folder: folder
        ).result()
    }

    private func exists(_ name: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    @Test("Without its keys it does not start, makes none, and says how to continue")
    func keys() async throws {
        try await withTemporaryFolder { folder in
            let (server, keyID, artifact) = try await attested(in: folder)
            _ = await server.end(SIGTERM)
            try move("state.sqlite-keys", to: "away", in: folder)
            let refused = try await start(in: folder)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("keys are lost"), "\(refused.errors)")
            #expect(refused.errors.contains("Restore keys.json from a backup"))
            #expect(!exists("state.sqlite-keys", in: folder))
            let check = try await AssayProcess.run("state", "check", "--state", "sqlite:state.sqlite", folder: folder)
            #expect(check.status == 1)
            #expect(check.errors.contains("keys are lost"))

            try move("away", to: "state.sqlite-keys", in: folder)
            let again = try await AssayServer(in: folder)
            #expect(try await again.assert(device, keyID, artifact).status == 200)
            _ = await again.end(SIGTERM)

            try FileManager.default.removeItem(at: folder.appendingPathComponent("state.sqlite-keys"))
            let words = refused.errors.split { $0 == " " || $0 == "\n" || $0 == "\"" }
            let options = zip(words, words.dropFirst()).filter { $0.0 == "--forget-key" }.map { String($0.1) }
            #expect(options.count == 2)
            let some = try await start(in: folder, "--forget-key", options[0])
            #expect(some.status == 2)
            let still = try await start(in: folder)
            for kid in options {
                #expect(still.errors.contains("--forget-key \(kid)"), "a start that fails forgets nothing")
            }
            let anew = try await AssayServer(in: folder, arguments: options.flatMap { ["--forget-key", $0] })
            #expect(try await anew.assert(device, keyID, artifact).status == 403)
            _ = await anew.end(SIGTERM)
            let plain = try await AssayServer(in: folder)
            _ = await plain.end(SIGTERM)
        }
    }

    @Test(
        "A sealing key that leaked opens nothing on a running server once it is revoked; a key that is there is not given up"
    )
    func leaked() async throws {
        try await withTemporaryFolder { folder in
            let (server, keyID, artifact) = try await attested(in: folder)
            let challenge = try await server.challenge()
            let list = try await AssayProcess.run(
                "keys", "list", "--state", "sqlite:state.sqlite", "--format", "json", folder: folder)
            let keys = try JSON.parse(Array(list.output.utf8))["keys"]?.array ?? []
            let kid = try #require(keys.first { $0["kind"] == "sealing" }?["kid"]?.string)
            for id in keys.compactMap({ $0["kid"]?.string }) {
                let kept = try await start(in: folder, "--forget-key", id)
                #expect(kept.status == 2)
                #expect(kept.errors.contains("is not lost"), "\(kept.errors)")
            }
            #expect(try await server.assert(device, keyID, artifact).status == 200)

            try FileManager.default.copyItem(
                at: folder.appendingPathComponent("state.sqlite-keys"), to: folder.appendingPathComponent("older"))
            let revoked = try await AssayProcess.run(
                "keys", "revoke", "--state", "sqlite:state.sqlite", "--losing-devices", kid, folder: folder)
            #expect(revoked.status == 0, "\(revoked.errors)")
            try await eventually("the server loads that the key is revoked") {
                try await server.assert(device, keyID, artifact).status == 403
            }
            #expect(try await server.attest(device, device.generateKey(), challenge: challenge).status == 403)
            #expect(
                server.process.errorsSoFar.contains("the sealing key \(kid), which it was made with, was revoked at"))
            #expect(try await server.get("/readyz").status == 200)
            let fresh = try await server.challenge()
            #expect(try await server.attest(device, device.generateKey(), challenge: fresh).status == 200)
            _ = await server.end(SIGTERM)

            // An older copy of the keys does not undo the revocation.
            try move("state.sqlite-keys", to: "newer", in: folder)
            try move("older", to: "state.sqlite-keys", in: folder)
            let undone = try await start(in: folder)
            #expect(undone.status == 2)
            #expect(undone.errors.contains("was revoked at"), "\(undone.errors)")
            try move("state.sqlite-keys", to: "older", in: folder)
            try move("newer", to: "state.sqlite-keys", in: folder)
            let again = try await AssayServer(in: folder, arguments: ["--forget-key", "unknown"])
            #expect(again.process.errorsSoFar.contains("the state does not remember it"))
            #expect(try await again.assert(device, keyID, artifact).status == 403, "it stays revoked")
            _ = await again.end(SIGTERM)
        }
    }

    @Test("Keys of another service in their place are no replacement")
    func foreignKeys() async throws {
        try await withTemporaryFolder { folder in
            let (server, _, _) = try await attested(in: folder)
            _ = await server.end(SIGTERM)
            try await withTemporaryFolder { other in
                _ = await (try await attested(in: other)).0.end(SIGTERM)
                let keys = "state.sqlite-keys/keys.json"
                try FileManager.default.removeItem(at: folder.appendingPathComponent(keys))
                try FileManager.default.moveItem(
                    at: other.appendingPathComponent(keys), to: folder.appendingPathComponent(keys))
            }
            let refused = try await start(in: folder)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("keys are lost"))
        }
    }

    @Test(
        "While the database is away, or another is in its place, nothing is decided; a second server finds no used token good",
        .timeLimit(.minutes(20)), arguments: [true, false])
    func database(isReplaced: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (server, keyID, artifact) = try await attested(in: folder)
            let used = try await server.challenge()
            #expect(try await server.attest(device, device.generateKey(), challenge: used).status == 200)
            #expect(try await server.get("/readyz").status == 200)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("away"), withIntermediateDirectories: false)
            for suffix in ["", "-wal", "-shm"] {
                try move("state.sqlite\(suffix)", to: "away/state.sqlite\(suffix)", in: folder)
            }
            if isReplaced { try Data().write(to: folder.appendingPathComponent("state.sqlite")) }
            while try await server.get("/readyz").status == 200 { try await Task.sleep(for: .milliseconds(10)) }
            let page = try await server.text("/readyz")
            #expect(page.contains(isReplaced ? "was replaced" : "was removed"), "\(page)")
            #expect(try await server.post("generateAppAttestChallenge").status == 503)
            if isReplaced { try FileManager.default.removeItem(at: folder.appendingPathComponent("state.sqlite")) }

            let second = try await AssayServer(in: folder)
            #expect(try await second.attest(device, device.generateKey(), challenge: used).status == 403)
            #expect(try await second.assert(device, keyID, artifact).status == 200)
            _ = await second.end(SIGTERM)

            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(at: folder.appendingPathComponent("state.sqlite\(suffix)"))
                try move("away/state.sqlite\(suffix)", to: "state.sqlite\(suffix)", in: folder)
            }
            while try await server.get("/readyz").status != 200 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await server.attest(device, device.generateKey(), challenge: used).status == 403)
            #expect(try await server.assert(device, keyID, artifact).status == 200)
            _ = await server.end(SIGTERM)
        }
    }

    @Test("A copy that was made while it serves is served in its place, and takes what was issued before for used")
    func copies() async throws {
        try await withTemporaryFolder { folder in
            let (server, keyID, artifact) = try await attested(in: folder)
            let unused = try await server.challenge()
            let backup = try await AssayProcess.run(
                "state", "backup", "--state", "sqlite:state.sqlite", "--with-keys", "copy.sqlite", folder: folder)
            #expect(backup.status == 0, "\(backup.errors)")
            #expect(backup.lines.count == 2)
            let twice = try await AssayProcess.run(
                "state", "backup", "--state", "sqlite:state.sqlite", "copy.sqlite", folder: folder)
            #expect(twice.status == 2)
            #expect(twice.errors.contains("exists already"))
            for arguments in [["--keys", "no-folder", "--with-keys", "other.sqlite"], ["no-folder/other.sqlite"]] {
                let process = try AssayProcess(
                    ["state", "backup", "--state", "sqlite:state.sqlite"] + arguments, folder: folder)
                #expect(await process.result().status == 2)
                for name in ["other.sqlite", "no-folder"] {
                    #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path))
                }
            }
            // Used after the copy was made.
            #expect(try await server.attest(device, device.generateKey(), challenge: unused).status == 200)
            _ = await server.end(SIGKILL)
            let check = try await AssayProcess.run("state", "check", "--state", "sqlite:copy.sqlite", folder: folder)
            #expect(check.status == 0, "\(check.errors)")
            #expect(check.output.contains("is sound"))
            #expect(check.output.contains("it is a copy that was made at 20"))
            #expect(check.output.contains("all keys that it was used with are in copy.sqlite-keys"))

            for name in ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "state.sqlite-keys"] {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
            try move("copy.sqlite", to: "state.sqlite", in: folder)
            try move("copy.sqlite-keys", to: "state.sqlite-keys", in: folder)
            // Challenges count by the second in which the restored state begins.
            try await Task.sleep(for: .seconds(1))
            let restored = try await AssayServer(in: folder)
            #expect(try await restored.attest(device, device.generateKey(), challenge: unused).status == 403)
            #expect(try await restored.assert(device, keyID, artifact).status == 200)
            let result = await restored.end(SIGTERM)
            #expect(result.errors.contains("the state is a copy that was restored"))
            #expect(result.errors.contains("challenge_already_used"))
        }
    }

    @Test("What is not there is neither copied nor checked nor made")
    func nothing() async throws {
        try await withTemporaryFolder { folder in
            for arguments in [["backup", "copy.sqlite"], ["check"]] {
                for state in ["sqlite:none.sqlite", "memory", "postgres:x"] {
                    let process = try AssayProcess(["state"] + arguments + ["--state", state], folder: folder)
                    #expect(await process.result().status == 2)
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("A challenge that was used stays used when the clock jumps a day forward and back, which the log tells")
    func clock() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let clock = try MovedClock(in: folder)
            let server = try await AssayServer(in: folder, environment: clock.environment)
            let used = try await server.challenge()
            #expect(try await server.attest(device, device.generateKey(), challenge: used).status == 200)
            try clock.move(bySeconds: 25 * 3600)
            for _ in 0..<20 {
                #expect(
                    try await server.attest(device, device.generateKey(), challenge: server.challenge()).status == 200)
            }
            try clock.move(bySeconds: 0)
            #expect(try await server.attest(device, device.generateKey(), challenge: used).status == 403)
            #expect(try await server.attest(device, device.generateKey(), challenge: server.challenge()).status == 200)
            let metrics = try await server.text("/metrics")
            #expect(metrics.contains("assay_clock_jumps_total{direction=\"forward\"} 1"), "\(metrics)")
            #expect(metrics.contains("assay_clock_jumps_total{direction=\"back\"} 1"))
            let result = await server.end(SIGTERM)
            #expect(result.errors.contains("the time of day jumped forward"))
            #expect(result.errors.contains("challenge_already_used"))
        }
    }
}

/// A time of day that a test moves, for processes that it starts.
private struct MovedClock {
    private let folder: URL

    init(in folder: URL) throws {
        self.folder = folder
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <time.h>
            int clock_gettime(clockid_t id, struct timespec *time) {
                int (*original)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
                int result = original(id, time);
                FILE *file = id == CLOCK_REALTIME ? fopen("\(folder.path)/clock", "r") : NULL;
                long seconds = 0;
                if (file && fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
                if (file) fclose(file);
                return result;
            }
            """
        try Data(source.utf8).write(to: folder.appendingPathComponent("clock.c"))
        try move(bySeconds: 0)
        let compiler = ChildProcess()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", "clock.so", "clock.c"]
        compiler.currentDirectoryURL = folder
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
    }

    var environment: [String: String] { ["LD_PRELOAD": folder.appendingPathComponent("clock.so").path] }

    func move(bySeconds seconds: Int) throws {
        try Data("\(seconds)\n".utf8).write(to: folder.appendingPathComponent("clock"), options: .atomic)
    }
}
