#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayHTTPServer
internal import UnixSignals

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// `assay load`.
struct LoadCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "load", abstract: "Measure a server with simulated devices.",
            discussion: """
                Two commands begin it, with a server between them:

                    \(program) load policy load && \(program) serve --policies load --state memory --keys load/keys &
                    \(program) load --folder load --concurrency 32 --duration 10s

                First the simulated devices attest their keys, and all that can be signed before is signed: challenges are good \
                for five minutes. Then the load warms up and is measured. When the prepared requests run out, the measured \
                phase ends, and the result says so.

                With --rate, calls are due at fixed times, and latencies count from them, also where the server or the \
                connections were not ready. With --concurrency, each call follows a former one.

                Exit codes: 0 when the run was made, 1 when a used token was accepted again or nothing was answered, 2 when it \
                could not run.
                """,
            subcommands: [LoadRunCommand.self, LoadPolicyCommand.self, LoadMergeCommand.self],
            defaultSubcommand: LoadRunCommand.self)
    }
}

/// `assay load run`, and `assay load` alone.
struct LoadRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Make a load, and report.")

    @OptionGroup var target: LoadTargetOptions
    @OptionGroup var pace: LoadPaceOptions

    @Option(help: "The server's process on this machine, whose use of the processor is reported.")
    var serverPid: Int?

    @Option(help: "Where the result is written in JSON, for `load merge`; - for standard output.", completion: .file())
    var json: String?

    @Option(
        help: "Where percentile distributions are written, as tools for HdrHistogram read them.", completion: .file())
    var histogram: String?

    func run() async throws {
        do {
            OpenFileLimit.raise()
            let run = LoadRun(try plan(), isInteractive: isatty(STDERR_FILENO) == 1)
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            let stopping = Task {
                for await _ in signals { run.stop() }
            }
            defer { stopping.cancel() }
            let outcome = try await run.run()
            let result = LoadResult(
                outcome, url: target.url, mix: pace.mix.text,
                pace: "\(pace.paceText) \(pace.mostConnections) connections")
            try LoadOutput(json: json, histogram: histogram).write(result)
        } catch let error where !(error is ExitCode || error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    private func plan() throws -> LoadPlan {
        let folder = LoadFolder(path: target.folder)
        let devices = try target.devices(of: folder)
        let needsCaller = pace.mix.share(of: .verify) + pace.mix.share(of: .consume) > 0
        return LoadPlan(
            requests: LoadRequests(
                project: target.project, app: target.app ?? LoadFolder.app(on: target.platform),
                backend: target.backend, methods: devices.methods, caller: needsCaller ? try folder.caller() : nil,
                target: try target.target()),
            devices: devices, amounts: pace.amounts, pace: pace.pace,
            mix: pace.mix,
            times: LoadDriver.Times(
                warmUp: pace.warmUp.duration, duration: pace.duration.duration, timeout: pace.timeout.duration),
            connections: pace.mostConnections, replays: pace.replays, server: serverPid.map(LoadProcess.init(id:)))
    }
}

/// `assay load policy`.
struct LoadPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Write a folder with a policy for load tests.",
        discussion: """
            The policy `load.yaml` trusts simulated devices of the file `authority` beside it, of Apple and with Android, and lets a \
            caller verify tokens, whose token is beside it, too. A server with this policy is for load tests alone.
            """)

    @Argument(help: "The folder, which is made if it does not exist.", completion: .directory)
    var folder = "load"

    func run() throws {
        do {
            try LoadFolder(path: folder).make()
            let program = AssayProgram.current.name
            try Terminal.say("\(program) serve --policies \(folder) --state memory --keys \(folder)/keys")
            try Terminal.say("\(program) load --folder \(folder) --concurrency 32 --duration 10s")
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}

/// `assay load merge`.
struct LoadMergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Add up the results of generators that ran at the same time.")

    @Argument(help: "Files of `load --json`.", completion: .file())
    var files: [String]

    @Option(help: "Where the sum is written in JSON; - for standard output.", completion: .file())
    var json: String?

    @Option(help: "Where percentile distributions are written.", completion: .file())
    var histogram: String?

    func run() throws {
        do {
            var sum: LoadResult?
            for file in files {
                let bytes = try SecretFile.read(file, limit: LoadResult.sizeLimit, isSecret: false)
                let result = try LoadResult(bytes, name: file)
                if sum == nil { sum = result } else { sum?.add(result) }
            }
            guard let sum else { throw LoadFailure("no result is given") }
            try LoadOutput(json: json, histogram: histogram).write(sum)
        } catch let error where !(error is ExitCode || error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}

/// Where a result goes.
struct LoadOutput {
    let json: String?
    let histogram: String?

    /// Writes it.
    ///
    /// - Throws: `ExitCode.refused` when the result is bad.
    func write(_ result: LoadResult) throws {
        if let json, json.isExactly("-") {
            try Terminal.say(String(decoding: result.json.encoded, as: UTF8.self))
        } else {
            try Terminal.say(LoadText.report(result))
            if let json { try file(json, result.json.encoded) }
        }
        if let histogram { try file(histogram, Array(LoadText.distributions(result.tally).utf8)) }
        guard result.isGood else { throw ExitCode.refused }
    }

    private func file(_ path: String, _ bytes: [UInt8]) throws {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw LoadFailure("\(path) cannot be written")
        }
    }
}
#endif
