import ArgumentParser
import AssayCore
import AssayTestSupport
import Foundation
import Testing

@testable import AssayStandard

@Suite("assay load")
struct LoadCommandTests {
    /// `assay serve` with the policy of `load policy`.
    private func withServer(_ body: (URL, String, AssayProcess) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let made = try await AssayProcess.run("load", "policy", "load", folder: folder)
            try #require(made.status == 0, "\(made.errors)")
            #expect(made.lines.count == 2 && made.output.contains("serve --policies load"))
            let server = try AssayProcess(
                [
                    "serve", "--policies", "load", "--listen", "127.0.0.1:0", "--state", "memory", "--keys", "keys",
                    "--max-queue-time", "0",
                ], folder: folder)
            defer { server.process.terminate() }
            let start = ContinuousClock.now
            while !server.outputSoFar.contains("\n") {
                try #require(server.process.isRunning, "\(server.errorsSoFar)")
                try #require(ContinuousClock.now - start < .seconds(60), "the server does not start")
                try await Task.sleep(for: .milliseconds(10))
            }
            let base = String(
                try #require(server.outputSoFar.split(separator: "\n").first?.split(separator: " ").last))
            try await body(folder, base, server)
        }
    }

    @Test("A short run has every method accepted, replays refused, and a result that adds up with another")
    func run() async throws {
        try await withServer { folder, base, server in
            // What is prepared for a closed loop must not run out in a warm-up, however fast the server is.
            let paces = [
                ("a.json", ["--rate", "60", "--warm-up", "100ms"]),
                ("b.json", ["--concurrency", "2", "--prepare", "60", "--warm-up", "0s"]),
            ]
            for (file, pace) in paces {
                let run = try AssayProcess(
                    [
                        "load", "--url", base, "--mix", "challenge,attest,assert,verify,consume=2,proxy", "--replays",
                        "0.5", "--devices", "8", "--connections", "4", "--duration", "1s", "--json", file,
                        "--histogram", "a.hgrm", "--server-pid", "\(server.process.processIdentifier)",
                    ] + pace, folder: folder)
                let result = await run.result()
                #expect(result.status == 0, "\(result.output)\(result.errors)")
                #expect(result.output.contains("0 ACCEPTED"))
                #expect(result.output.contains("µs for each request"))
                #expect(result.errors.contains("attested 8 devices"))
                let bytes = try Data(contentsOf: folder.appendingPathComponent(file))
                let read = try LoadResult(Array(bytes), name: file)
                for method in LoadMethod.allCases {
                    #expect(read.tally[method].accepted > 0, "\(method): \(result.output)")
                    #expect(read.tally[method].refused + read.tally[method].lost == 0, "\(method): \(result.output)")
                }
                #expect(read.tally[.consume].replaysRefused > 0)
            }
            let histogram = try String(contentsOf: folder.appendingPathComponent("a.hgrm"), encoding: .utf8)
            #expect(histogram.contains("#[assert]") && histogram.contains("Percentile"))
            let merged = try await AssayProcess.run("load", "merge", "a.json", "b.json", folder: folder)
            #expect(merged.status == 0 && merged.output.contains("by 2 generators"), "\(merged)")
            let again = try await AssayProcess.run("load", "policy", "load", folder: folder)
            #expect(again.status == 2 && again.errors.contains("exists already"))
        }
    }

    @Test("Devices with Android make a load, and get a token, by the same authority")
    func android() async throws {
        try await withServer { folder, base, _ in
            let run = try AssayProcess(
                [
                    "load", "--url", base, "--platform", "android", "--mix",
                    "challenge,attest,assert,verify,consume,proxy",
                    "--devices", "4", "--connections", "2", "--duration", "1s", "--rate", "30", "--warm-up", "100ms",
                    "--json", "a.json",
                ], folder: folder)
            let result = await run.result()
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            let bytes = try Data(contentsOf: folder.appendingPathComponent("a.json"))
            let read = try LoadResult(Array(bytes), name: "a.json")
            for method in LoadMethod.allCases {
                #expect(read.tally[method].accepted > 0, "\(method): \(result.output)")
                #expect(read.tally[method].refused + read.tally[method].lost == 0, "\(method): \(result.output)")
            }
            func token(_ arguments: String...) async throws -> AssayProcess.Result {
                let process = try AssayProcess(
                    [
                        "token", "limited-use", "--endpoint", base, "--app", LoadFolder.app(on: .android), "--provider",
                        "simulated-android", "--authority", "load/authority",
                    ] + arguments, environment: ["XDG_STATE_HOME": folder.path], folder: folder)
                return await process.result()
            }
            let good = try await token("--package", LoadFolder.package)
            #expect(good.status == 0 && good.output.split(separator: ".").count == 3, "\(good)")
            let other = try await token("--package", "com.example.other")
            #expect(other.status == 1 && other.output == "", "\(other)")
            #expect(try await token().errors.contains("--package NAME"))
            let printed = try await AssayProcess.run(
                "token", "authority", "--platform", "android", "load/authority", folder: folder)
            #expect(printed.lines.contains("android_key:"))
            #expect(printed.status == 0 && printed.output.contains("BEGIN CERTIFICATE"))
        }
    }

    @Test("SIGINT ends a run with a report of what was done")
    func interrupt() async throws {
        try await withServer { folder, base, _ in
            let run = try AssayProcess(
                [
                    "load", "--url", base, "--mix", "challenge", "--devices", "1", "--rate", "100", "--warm-up", "0s",
                    "--duration", "60s",
                ], folder: folder)
            let start = ContinuousClock.now
            while !run.errorsSoFar.contains("prepared") {
                try #require(run.process.isRunning && ContinuousClock.now - start < .seconds(60), "\(run.errorsSoFar)")
                try await Task.sleep(for: .milliseconds(20))
            }
            try await Task.sleep(for: .milliseconds(300))
            kill(run.process.processIdentifier, SIGINT)
            let result = await run.result()
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("it was interrupted") && result.output.contains("accepted/s"))
        }
    }

    @Test("Without a server it could not run")
    func noServer() async throws {
        try await withTemporaryFolder { folder in
            _ = try await AssayProcess.run("load", "policy", "load", folder: folder)
            let result = try await AssayProcess.run(
                "load", "--url", "http://127.0.0.1:1", "--concurrency", "1", "--mix", "challenge", folder: folder)
            #expect(result.status == 2 && result.errors.contains("no connection"), "\(result)")
        }
    }

    @Test(
        "Wrong arguments are refused before anything is called",
        arguments: [
            ([], "either --rate or --concurrency"),
            (["--rate", "5", "--concurrency", "5"], "either --rate or --concurrency"),
            (["--rate", "0"], "--rate must be"), (["--concurrency", "0"], "--concurrency must be"),
            (["--rate", "1", "--replays", "2"], "--replays must be"),
            (["--rate", "1", "--duration", "0s"], "--duration must"),
            (["--rate", "1", "--duration", "5"], "duration"),
            (["--rate", "1", "--mix", "all"], "unknown method 'all'"),
            (["--concurrency", "9", "--devices", "8"], "at least as many --devices"),
        ])
    func arguments(_ arguments: [String], _ words: String) {
        #expect {
            _ = try LoadRunCommand.parse(arguments)
        } throws: { error in
            LoadRunCommand.message(for: error).contains(words)
        }
    }

    @Test(
        "The address of the server is read with and without a port",
        arguments: [
            ("http://load.example.com", "load.example.com", 80, "load.example.com", ""),
            ("http://[::1]", "::1", 80, "[::1]", ""), ("http://[::1]:81/", "::1", 81, "[::1]:81", ""),
            ("http://10.0.0.1:443/assay", "10.0.0.1", 443, "10.0.0.1:443", "/assay"),
            ("https://example.com", "example.com", 443, "example.com", ""),
        ])
    func target(_ url: String, _ host: String, _ port: Int, _ authority: String, _ path: String) throws {
        let target = try LoadTargetOptions.parse(["--url", url]).target()
        #expect(target.host == host && target.port == port && target.authority == authority && target.path == path)
        #expect((target.tls != nil) == url.hasPrefix("https"))
    }

    @Test("For an open loop as much is prepared as it needs, and for a closed one as it is told")
    func amounts() throws {
        let open = try LoadPaceOptions.parse(
            ["--rate", "1000", "--duration", "8s", "--warm-up", "2s", "--mix", "assert=1,verify=3"])
        #expect(open.amounts == .init(devices: 200, attestations: 0, assertions: 2526, limitedUse: 0))
        let closed = try LoadPaceOptions.parse(["--concurrency", "1", "--prepare", "90", "--mix", "attest,consume=2"])
        #expect(closed.amounts == .init(devices: 200, attestations: 31, assertions: 0, limitedUse: 61))
        let parts = (0..<4).map { LoadPreparation.part(10, $0, 4) }
        #expect(parts == [3, 3, 2, 2])
    }
}
