import AssayTestSupport
import Foundation
import Testing

@Suite("Completion in shells")
struct CompletionTests {
    @Test(
        "The scripts name all subcommands and their options",
        arguments: [
            ("bash", #"-W 'text'$'\n''json'"#, "__assay_add_completions -d"),
            ("zsh", "('text' 'json')", ":_files -/"),
            ("fish", "-l 'format' -d 'The output format.' -rfka 'text json'", "(__assay_complete_directories)"),
        ])
    func scripts(shell: String, formats: String, folders: String) async throws {
        let result = try await AssayProcess.run("--generate-completion-script", shell)
        #expect(result.status == 0 && result.errors == "")
        let names = [
            "serve", "verify", "policy", "keys", "state", "plugins", "conformance", "methods", "reasons", "metrics",
            "caller-token", "debug-token", "token", "limited-use", "demo", "fake-apple", "show", "explain", "diff",
            "check", "schema",
        ]
        for name in names { #expect(result.output.contains(name), "\(name)") }
        for option in ["policies", "format", "without-secrets", "against", "route"] {
            #expect(result.output.contains(option), "\(option)")
        }
        // Formats are completed as words, and folders as folders.
        #expect(result.output.contains(formats))
        #expect(result.output.contains(folders))
    }

    @Test("A script of bash is one that bash can read")
    func syntax() async throws {
        let script = try await AssayProcess.run("--generate-completion-script", "bash").output
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("assay.bash")
            try Data(script.utf8).write(to: file)
            let bash = ChildProcess()
            bash.executableURL = URL(fileURLWithPath: "/bin/bash")
            bash.arguments = ["-n", file.path]
            try bash.run()
            bash.waitUntilExit()
            #expect(bash.terminationStatus == 0)
        }
    }
}
