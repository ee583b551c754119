#if !Simulator
internal import ArgumentParser
internal import AssayCommand

/// Takes the place of `assay demo` in a build without simulated devices and authorities.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "demo", shouldDisplay: false)
    static let invitation: String? = nil

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw LeftOut.simulator("demo") }
}

/// Takes the place of `assay fake-apple` in a build without simulated devices and authorities.
struct FakeAppleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fake-apple", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw LeftOut.simulator("fake-apple") }
}

/// Takes the place of `assay load` in a build without simulated devices and authorities.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "load", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw LeftOut.simulator("load") }
}

/// Takes the place of `assay token authority` in a build without simulated devices and authorities.
struct TokenAuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "authority", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw LeftOut.simulator("token authority") }
}

enum LeftOut {
    /// Says why a subcommand is not available.
    static func simulator(_ command: String) -> ExitCode {
        Terminal.report(
            "this program was built without the subcommand '\(command)': build it with the package trait Simulator")
        return .couldNotRun
    }

    /// Says why there is no simulated device.
    static func simulatedDevices() -> ExitCode {
        Terminal.report("this program was built without simulated devices: build it with the package trait Simulator")
        return .couldNotRun
    }
}
#endif
