#if Simulator
internal import AssayCommand
internal import AssayEngine
internal import AssayTesting

/// What happens in the demonstration, step by step.
final class DemoScript {
    let client: DemoClient
    let phone: SimulatedDevice
    let olderPhone: SimulatedDevice
    let android: SimulatedAndroidAuthority
    let play: SimulatedPlayService
    let pages: DemoPages
    let debugToken: String
    let users: DemoUsers
    let account: DemoAccount
    let app = SimulatedApp(appID: DemoPolicy.appID, environment: .production)
    let report = DemoReport()
    private let server: DemoServer

    init(
        base: String, server: DemoServer, authority: SimulatedAppleCA, android: SimulatedAndroidAuthority,
        play: SimulatedPlayService, pages: DemoPages, debugToken: String, users: DemoUsers, account: DemoAccount
    ) {
        client = DemoClient(base: base)
        self.server = server
        phone = SimulatedDevice(authority: authority, system: .iOS27)
        olderPhone = SimulatedDevice(authority: authority, system: .iOS26)
        self.android = android
        self.play = play
        self.pages = pages
        self.debugToken = debugToken
        self.users = users
        self.account = account
    }

    /// Plays all steps; returns whether each ended as it should.
    func play() async throws -> Bool {
        try Terminal.say("Assay serves \(client.base)/v1/\(DemoPolicy.app)\n")
        try Terminal.say("A genuine app proves itself:")
        guard let session = try await playGood() else { return try report.end() }
        try await playAndroid()
        try await playGooglePlay()
        try await playPages()
        try Terminal.say("\nIts tokens are accepted where they belong:")
        let spent = try await playConsumers(session)
        try Terminal.say("\nEvery attack is refused:")
        try await playBad(session)
        try await playBadAndroid()
        try await playBadPages()
        if let spent { try await playBadConsumers(session, spent: spent) }
        return try report.end()
    }

    /// A step that must be refused; what the client is told is all that it is told.
    func refused(
        _ title: String, _ code: String, status: Int = 403, message: String? = "App attestation failed.",
        _ attempt: @escaping () async throws -> DemoClient.Answer
    ) async throws {
        try await report.refused(
            title, code, status: status, message: message, reason: { [server] in server.reason(of: $0) }, attempt)
    }
}
#endif
