import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay fake-apple")
struct FakeAppleTests {
    /// Starts one, and returns it with what it prints for people to try.
    private func start(_ arguments: [String] = []) async throws -> (AssayProcess, commands: [String]) {
        let process = try AssayProcess(["fake-apple", "--port", "0"] + arguments)
        let start = ContinuousClock.now
        while !process.outputSoFar.contains("Requests, until interrupted") {
            try #require(process.process.isRunning && ContinuousClock.now - start < .seconds(60))
            try await Task.sleep(for: .milliseconds(20))
        }
        let commands = process.outputSoFar.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("curl ") }
        return (process, commands)
    }

    private func shell(_ command: String) throws -> String {
        let shell = ChildProcess()
        let pipe = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", command]
        shell.standardOutput = pipe
        try shell.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        return output
    }

    private func stop(_ process: AssayProcess) async -> Int32 {
        kill(process.process.processIdentifier, SIGINT)
        return await process.result().status
    }

    @Test("What it prints can be run as it stands, and is answered as by Apple")
    func commands() async throws {
        let (process, commands) = try await start()
        #expect(commands.count == 4)
        let status = #" -w '%{http_code}' --max-time 20"#
        let answers = try (commands + [commands[3], commands[0].replacing("Bearer ", with: "Bearer x")])
            .map { try shell($0 + status) }
        #expect(answers[0] == "200")
        #expect(answers[1] == "200")
        #expect(answers[2].hasPrefix(#"{"bit0":true,"bit1":false,"last_update_time":"20"#), "\(answers[2])")
        #expect(answers[3].hasSuffix("200") && answers[3].count > 1000, "\(answers[3])")
        #expect(answers[4] == "304")
        #expect(answers[5] == "Unable to verify authorization token401")
        #expect(process.outputSoFar.contains("POST /production/v1/query_two_bits 200 "))
        #expect(await stop(process) == 0)
    }

    @Test("It can answer as a server in trouble does")
    func trouble() async throws {
        let (process, commands) = try await start(["--answer", "503", "--retry-after", "60"])
        let answer = try shell(commands[0] + " -i --max-time 20")
        #expect(answer.hasPrefix("HTTP/1.1 503"))
        #expect(answer.lowercased().contains("retry-after: 60"))
        #expect(await stop(process) == 0)
    }

    @Test("In a folder of its user's it keeps its key")
    func folder() async throws {
        try await withTemporaryFolder { folder in
            let folder = folder.path
            let file = "\(folder)/apple/AuthKey_SIMULATED1.p8"
            var keys: Set<String> = []
            for _ in 0..<2 {
                let (process, commands) = try await start(["--directory", "\(folder)/apple"])
                #expect(try shell(commands[0] + " -w '%{http_code}' --max-time 20") == "200")
                #expect(await stop(process) == 0)
                keys.insert(try String(contentsOfFile: file, encoding: .utf8))
            }
            #expect(keys.count == 1)
            // In the same file, which keeps its mode.
            try "no key".write(toFile: file, atomically: false, encoding: .utf8)
            let result = try await AssayProcess.run("fake-apple", "--port", "0", "--directory", "\(folder)/apple")
            #expect(result.status == 2)
            #expect(result.errors.contains("holds no P-256 private key"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "no key")
        }
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            ["--team", "abc"], ["--answer", "99"], ["--retry-after", "5"], ["--answer", "503", "--retry-after", "-1"],
            ["--silent", "--answer", "500"],
            ["--port", "70000"], ["--directory", "/proc/no/such/file"],
        ])
    func wrong(_ arguments: [String]) async throws {
        let process = try AssayProcess(["fake-apple"] + arguments)
        let result = await process.result()
        #expect(result.status == 2)
        #expect(result.output == "" && !result.errors.isEmpty)
    }

    @Test("An app's device token is exchanged by a server that asks it")
    func exchange() async throws {
        try await withTemporaryFolder { folder in
            let (process, _) = try await start(["--directory", folder.path])
            let base = try #require(
                process.outputSoFar.split(separator: "\n").first { $0.contains("base_url: ") }?
                    .split(separator: " ").last)
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let policy = """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          device_check:
                            key_id: SIMULATED1
                            private_key: file:\(folder.path)/AuthKey_SIMULATED1.p8
                            base_url: \(base)
                """
            try Data(policy.utf8).write(to: policies.appendingPathComponent("policy.yaml"))
            let server = try AssayProcess(
                ["serve", "--listen", "127.0.0.1:0", "--state", "sqlite:state.sqlite"], folder: folder)
            let start = ContinuousClock.now
            while !server.outputSoFar.contains("\n") {
                try #require(server.process.isRunning && ContinuousClock.now - start < .seconds(60))
                try await Task.sleep(for: .milliseconds(20))
            }
            let address = try #require(server.outputSoFar.split(separator: "\n").first?.split(separator: " ").last)
            let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
            let url = "\(address)/v1/\(app):exchangeDeviceCheckToken"
            /// What a device token is answered with: its body, and the status.
            func exchange(_ device: String) throws -> (status: Int?, body: String) {
                let token = Data("device-token:production:\(device)".utf8).base64EncodedString()
                let answer = try shell(
                    "curl -s -w '%{http_code}' --max-time 20 '\(url)' -d '{\"deviceToken\":\"\(token)\"}'")
                return (Int(answer.suffix(3)), String(answer.dropLast(3)))
            }
            var device = ""
            var reply: (status: Int?, body: String) = (503, "")
            // A busy machine may need more time than Apple is given.
            for number in 1..<20 where reply.status == 503 {
                device = "phone#\(number)"
                reply = try exchange(device)
            }
            #expect(reply.status == 200, "\(reply.body)")
            #expect(try JSON.parse(Array(reply.body.utf8))["ttl"] == "3600s")
            #expect(try exchange(device).status == 403)
            #expect(await stop(process) == 0)
            let undecided = try exchange("other")
            #expect(undecided.status == 503, "\(undecided.body)")
            #expect(await stop(server) == 0)
        }
    }
}
