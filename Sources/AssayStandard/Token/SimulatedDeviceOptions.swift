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

    @Option(
        help: ArgumentHelp("The package of the simulated app on Android, such as com.example.app.", valueName: "name"))
    var package: String?

    /// What must be given with one of the providers, and what may.
    func validate(for provider: TokenProvider) throws {
        guard provider.isSimulated || authority == nil else {
            throw ValidationError("--authority goes with --provider simulated or simulated-android")
        }
        guard provider == .simulated || bundle == nil && environment == nil else {
            throw ValidationError("--bundle and --environment go with --provider simulated")
        }
        guard provider == .simulatedAndroid || package == nil else {
            throw ValidationError("--package goes with --provider simulated-android")
        }
    }

    /// What a token is cached for.
    var name: String {
        [bundle, environment?.rawValue, authority, package].map { $0 ?? "" }.joined(separator: " ")
    }

    /// A provider with a new device each time.
    ///
    /// - Throws: `AppCheckError` with the code `invalidConfiguration`; `ExitCode` in a build without simulated devices.
    func provider(isAndroid: Bool) throws -> any AppCheckProvider {
        #if Simulator
        guard let authority else {
            throw AppCheckError(
                .invalidConfiguration,
                "A simulated device needs --authority FILE: `\(AssayProgram.current.name) token authority` makes one."
            )
        }
        let file = SimulatedAuthorityFile(authority)
        if isAndroid { return try androidProvider(try file.androidAuthority()) }
        guard let bundle, Self.isAppID(bundle) else {
            throw AppCheckError(
                .invalidConfiguration,
                "A simulated device needs --bundle TEAM.bundle, such as ABCDE12345.com.example.app.")
        }
        return AppAttestProvider(
            device: try SimulatedAttestingDevice(
                authority: file,
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

    /// Attests a new key for each token.
    private func androidProvider(_ authority: SimulatedAndroidAuthority) throws -> any AppCheckProvider {
        guard let package, (1...255).contains(package.utf8.count), package.utf8.contains(UInt8(ascii: ".")) else {
            throw AppCheckError(
                .invalidConfiguration,
                "A simulated device with Android needs --package NAME, such as com.example.app.")
        }
        var state = SimulatedAndroidState()
        state.package = package
        let device = try authority.device(state)
        return CustomProvider { request in
            let challenge = try await request.service.challenge("generateAndroidKeyChallenge")
            let key = try device.makeKey(challenge: challenge)
            return try await request.service.call(
                "exchangeAndroidKeyAttestation",
                ["attestation_chain": .list(key.chain.map { .bytes($0) }), "challenge": .bytes(challenge)],
                isLimitedUse: request.isLimitedUse
            ).token("appCheckToken")
        }
    }
    #endif
}
