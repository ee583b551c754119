#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayEngine
internal import AssayTesting
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// `assay demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Watch a device prove its identity, and see every attack refused.",
        discussion: """
            Starts a server on a free port of the loopback interface, with policies, keys and an SQLite database in a \
            temporary folder. Simulated devices, which only these policies trust, attest their keys and obtain tokens \
            over HTTP, and use them for a backend, for Fleet Engine's tokens for one user's trip, and for a client \
            attestation. Then they make attacks, which must fail. Each step is one line: what happened, how long it \
            took, and the identifier of the decision. Exits with 0 only if every step ended as expected.
            """)

    /// Why a newcomer begins with it, as the program's help says.
    static let invitation: String? = "it needs no configuration"

    @Flag(help: "Continue to serve afterwards, and print commands to try.")
    var keep = false

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let debugToken = DebugTokenCommand.uuid()
            let authority = try SimulatedAppleCA(at: HostClock.system.now)
            let users = try DemoUsers(folder: folder.path)
            let account = try DemoAccount(folder: folder.path)
            let android = try SimulatedAndroidAuthority(now: HostClock.system.now)
            let play = try SimulatedPlayService(clock: .system)
            let playKeys = folder.appendingPathComponent("play-keys")
            try Data(play.keyFile.utf8).write(to: playKeys)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: playKeys.path)
            let revoked = folder.appendingPathComponent("revoked.json")
            try Data(#"{"entries": {}}"#.utf8).write(to: revoked)
            let pages = try DemoPages(folder: folder.path)
            let policy = DemoPolicy.text(
                trusting: authority, android, revoked: revoked.path, play: playKeys.path, pages: pages,
                debugToken: debugToken, users: users, account: account)
            let server = try await DemoServer(folder: folder.path, policy: policy, http: pages)
            let isGood = try await server.run { base in
                let script = DemoScript(
                    base: base, server: server, authority: authority, android: android, play: play, pages: pages,
                    debugToken: debugToken, users: users, account: account)
                let isGood = try await script.play()
                if keep {
                    try Terminal.say(DemoPolicy.commands(base: base, debugToken: debugToken))
                    await server.waitForTheEnd()
                }
                return isGood
            }
            guard isGood else { throw ExitCode.refused }
        } catch let error where !(error is ExitCode || error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
#endif
