import AssayTestSupport
import Foundation
import Testing

@Suite("assay demo")
struct DemoTests {
    @Test("Every step ends as it should, and says so in one line with its time and its decision")
    func demo() async throws {
        let result = try await AssayProcess.run("demo")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let steps = result.lines.filter { $0.hasPrefix("  ok  ") || $0.hasPrefix("FAILED") }
        #expect(steps.count >= 30)
        for step in steps {
            #expect(step.contains(/^  ok   *\d+\.\d ms  [0-9A-HJKMNP-TV-Z]{26}  \S/), "\(step)")
        }
        for reason in [
            "challenge_already_used", "challenge_for_another_app", "nonce_mismatch", "counter_not_advanced",
            "assertion_signature_invalid", "token_expired", "token_missing", "token_not_limited_use", "token_reused",
            "fleet_engine_id_refused", "fleet_engine_actor_missing", "turnstile_host_mismatch", "hcaptcha_token_used",
            "recaptcha_v3_low_score", "recaptcha_enterprise_action_mismatch",
        ] {
            #expect(result.output.contains("refused: \(reason)"))
        }
        for opened in [
            "X-AppCheck-App-Id: 1:1234567890:ios:", "X-AppCheck-Consumed: true", "tripid: trip-1", "cnf.jwk",
        ] {
            #expect(result.output.contains(opened))
        }
        #expect(result.lines.last == "\(steps.count) steps, all ended as they should")
    }

    @Test("With --keep it continues serving, prints commands to try, and ends on SIGINT")
    func keep() async throws {
        let process = try AssayProcess(["demo", "--keep"])
        let start = ContinuousClock.now
        while !process.outputSoFar.contains("/readyz") {
            try #require(process.process.isRunning && ContinuousClock.now - start < .seconds(60))
            try await Task.sleep(for: .milliseconds(20))
        }
        let commands = process.outputSoFar.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("curl ") }
        #expect(commands.count == 5)
        for command in commands {
            let shell = ChildProcess()
            let pipe = Pipe()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "\(command) --max-time 20"]
            shell.standardOutput = pipe
            try shell.run()
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0 && output.hasPrefix("{"), "\(command): \(output)")
        }
        let token = try #require(
            process.outputSoFar.firstMatch(of: /AppCheckDebugToken=(\S+) assay (token .*)/)?.output)
        let run = try AssayProcess(
            token.2.split(separator: " ").map(String.init), environment: ["AppCheckDebugToken": String(token.1)])
        let result = await run.result()
        #expect(result.status == 0 && result.output.split(separator: ".").count == 3, "\(result)")
        kill(process.process.processIdentifier, SIGINT)
        #expect(await process.result().status == 0)
    }
}
