internal import ArgumentParser
internal import AssayClient
internal import AssayCommand

#if Simulator
internal import AssayCore
internal import AssayTesting
#endif

/// The App Attest environment of a simulated app.
enum DeviceEnvironment: String, ExpressibleByArgument, CaseIterable {
    case production, development
}

/// A simulated device, and the app on it.
struct SimulatedDeviceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The authority of the simulated device, a file of `token authority`. The server's policy must trust it.",
            valueName: "file"), completion: .file())
    var authority: String?

    @Option(
        help: ArgumentHelp("The simulated app as App Attest names it: TEAM.bundle.", valueName: "team.bundle"))
    var bundle: String?

    @Option(help: "The App Attest environment of the simulated app; production when left out.")
    var environment: DeviceEnvironment?

    /// Whether any of the options is there.
    var isGiven: Bool { authority != nil || bundle != nil || environment != nil }

    /// A provider with a new device each time.
    ///
    /// - Throws: `AppCheckError` with the code `invalidConfiguration`; `ExitCode` in a build without simulated devices.
    func provider() throws -> any AppCheckProvider {
        #if Simulator
        guard let authority else {
            throw AppCheckError(
                .invalidConfiguration,
                "A simulated device needs --authority FILE: `\(AssayProgram.current.name) token authority` makes one."
            )
        }
        guard let bundle, Self.isAppID(bundle) else {
            throw AppCheckError(
                .invalidConfiguration,
                "A simulated device needs --bundle TEAM.bundle, such as ABCDE12345.com.example.app.")
        }
        let device = SimulatedDevice(authority: try SimulatedAuthorityFile(path: authority).authority())
        return AppAttestProvider(
            device: SimulatedAttestingDevice(
                device,
                app: SimulatedApp(
                    appID: bundle, environment: environment == .development ? .development : .production)))
        #else
        throw LeftOut.simulatedDevices()
        #endif
    }

    #if Simulator
    private static func isAppID(_ text: String) -> Bool {
        let team = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        return team.count == 10 && text.utf8.count > 11 && text.utf8.count <= 256
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-.".utf8.contains($0) }
    }
    #endif
}
