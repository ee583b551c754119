public import Foundation

/// The command `assay`, as it was built beside these tests.
public struct AssayProcess: Sendable {
    /// How a process ended, and all that it said.
    public struct Result: Sendable {
        /// The exit status.
        public let status: Int32
        /// The standard output.
        public let output: String
        /// The standard error.
        public let errors: String

        /// The lines of the output that are not empty.
        public var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs the command to its end.
    public static func run(
        _ arguments: String..., input: String? = nil, environment: [String: String] = [:], folder: URL? = nil
    ) async throws -> Result {
        let process = try AssayProcess(arguments, environment: environment, folder: folder, input: input)
        return await process.result()
    }

    /// Where the command is.
    public static let executable = executable("assay")

    /// A program that was built beside these tests.
    private static func executable(_ program: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(program)
    }

    /// As whom a process runs; only root can choose.
    public struct Identity: Sendable {
        /// The user's number.
        public let user: UInt32
        /// The numbers of its groups.
        public let groups: [UInt32]

        /// - Parameter groups: the first is the effective group.
        public init(user: UInt32, groups: [UInt32]) {
            self.user = user
            self.groups = groups
        }
    }

    /// The process, which may still be running.
    public let process = ChildProcess()
    private let output: URL
    private let errors: URL

    /// Starts the command, or another program that was built beside these tests.
    ///
    /// - Parameters:
    ///   - descriptors: how many file descriptors it may have.
    ///   - identity: as whom it runs; nil for the user of these tests.
    ///   - launcher: a program with its arguments that starts it.
    public init(
        _ arguments: [String], of program: String = "assay", environment: [String: String] = [:], folder: URL? = nil,
        input: String? = nil, descriptors: Int? = nil, identity: Identity? = nil, launcher: [String] = []
    ) throws {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("assay-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        output = scratch.appendingPathComponent("output")
        errors = scratch.appendingPathComponent("errors")
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = Self.executable(program)
        process.arguments = arguments
        if let descriptors {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments =
                ["-c", "ulimit -n \(descriptors) && exec \"$0\" \"$@\"", Self.executable.path] + arguments
        }
        if let first = launcher.first {
            process.executableURL = URL(fileURLWithPath: first)
            process.arguments = launcher.dropFirst() + [Self.executable.path] + arguments
        }
        if let identity {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            process.arguments =
                [
                    "--reuid=\(identity.user)", "--regid=\(identity.groups.first ?? identity.user)",
                    "--groups=\(identity.groups.map(String.init).joined(separator: ","))", Self.executable.path,
                ] + arguments
        }
        var variables = ProcessInfo.processInfo.environment
        variables["ASSAY_DEBUG_TOKEN"] = nil
        variables["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = variables.merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = folder }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        if let input {
            let file = scratch.appendingPathComponent("input")
            try Data(input.utf8).write(to: file)
            process.standardInput = try FileHandle(forReadingFrom: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
    }

    /// The standard output up to now.
    public var outputSoFar: String { text(output) }
    /// The standard error up to now.
    public var errorsSoFar: String { text(errors) }

    /// Waits for the end.
    public func result() async -> Result {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(10)) }
        let result = Result(status: process.terminationStatus, output: outputSoFar, errors: errorsSoFar)
        try? FileManager.default.removeItem(at: output.deletingLastPathComponent())
        return result
    }

    private func text(_ file: URL) -> String {
        String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
    }
}

/// A folder that is removed with what is in it.
public func withTemporaryFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// The checkout that these tests belong to.
public let repository = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
