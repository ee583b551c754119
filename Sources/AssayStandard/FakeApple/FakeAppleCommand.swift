#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayTesting
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// `assay fake-apple`.
struct FakeAppleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fake-apple", abstract: "Simulate Apple's servers, to try policies without an account.",
        discussion: """
            Serves DeviceCheck's `validate_device_token`, `query_two_bits` and `update_two_bits`, and App Attest's \
            `attestationData`, under `/production/v1/` and `/development/v1/`, on the loopback interface only. It \
            answers as Apple documents it: with plain text, for one team whose key it makes, and to good tokens of \
            that key alone. What it knows is forgotten when it ends.

            Prints what to write in a policy, and commands to try by hand; then a line for each request.
            """)

    @Option(help: "The port to listen on; 0 for a free one.")
    var port: UInt16 = 8089

    @Option(help: "The team that may call.")
    var team = "ABCDE12345"

    @Option(
        help: """
            Where the team's key is, or is to be written (`AuthKey_SIMULATED1.p8`), and a receipt to exchange; a \
            temporary folder, removed at the end, when left out.
            """, completion: .directory)
    var directory: String?

    @OptionGroup var answers: FakeAppleAnswers

    func validate() throws {
        guard team.utf8.count == 10, team.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }) else {
            throw ValidationError("'\(team)' is not a team identifier: ten capital letters and digits")
        }
    }

    func run() async throws {
        let files = FileManager.default
        let temporary = files.temporaryDirectory.appendingPathComponent("assay-apple-\(UUID().uuidString)")
        defer { if directory == nil { try? files.removeItem(at: temporary) } }
        do {
            let folder = FakeAppleFolder(
                // Policies read a relative path from their own folder.
                path: directory.map { URL(fileURLWithPath: $0).path } ?? temporary.path)
            let service = FakeAppleService(
                apple: try folder.prepare(team: team), folder: folder, port: Int(port), answers: answers)
            // Its lines are those of the requests, and errors are said by this command.
            let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
            try await ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                    gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
            ).run()
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
#endif
