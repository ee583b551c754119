internal import AssayCore
internal import AssayKit

/// Calls an exchange with evidence of simulated devices.
struct ExchangeCaller: Sendable {
    let exchange: ProviderSubject.Exchange
    let platform: String

    /// The call of a genuine device of an app.
    func genuine(_ bench: ConformanceHarness, _ app: TestApp, _ number: Int) async throws -> Call {
        let device = try await device(bench, number, of: app, challengeApp: app)
        return Call(exchange.method, resource: resource(app), body: try await exchange.request(device))
    }

    /// A call of a device of the first app.
    ///
    /// - Parameters:
    ///   - challengeApp: the app that the call is for, and its challenge.
    ///   - ahead: how much the clock of the device is ahead.
    func call(
        _ bench: ConformanceHarness, _ number: Int, challengeApp: TestApp = .first, ahead: Duration = .zero,
        make: @Sendable (TestDevice) async throws -> JSON
    ) async throws -> Call {
        let device = try await device(bench, number, of: .first, challengeApp: challengeApp, ahead: ahead)
        return Call(exchange.method, resource: resource(challengeApp), body: try await make(device))
    }

    /// The same call for another app.
    func moved(_ call: Call, to app: TestApp) -> Call {
        var call = call
        call.resource = resource(app)
        return call
    }

    private func resource(_ app: TestApp) -> String { app.resource(platform: platform) }

    private func device(
        _ bench: ConformanceHarness, _ number: Int, of app: TestApp, challengeApp: TestApp, ahead: Duration = .zero
    ) async throws -> TestDevice {
        let own = resource(app)
        var challenge: [UInt8] = []
        if let method = exchange.challengeMethod {
            challenge = try await Self.challenge(bench, resource(challengeApp), method)
        }
        return TestDevice(
            app: app, number: number, challenge: challenge, now: bench.clock.now + ahead,
            call: { method, body in try await Self.reply(bench, own, method, body) },
            makeChallenge: { method in try await Self.challenge(bench, own, method) })
    }

    private static func reply(
        _ bench: ConformanceHarness, _ resource: String, _ method: String, _ body: JSON
    ) async throws -> JSON {
        let answer = await bench.call(Call(method, resource: resource, body: body))
        guard let reply = answer.reply else { throw CallNotAccepted(description: "\(method): \(answer.words)") }
        return reply
    }

    private static func challenge(
        _ bench: ConformanceHarness, _ resource: String, _ method: String
    ) async throws -> [UInt8] {
        let reply = try await reply(bench, resource, method, [:])
        guard let bytes = reply["challenge"]?.string.flatMap({ Base64.decode($0) }) else {
            throw CallNotAccepted(description: "\(method) gives no challenge")
        }
        return bytes
    }
}
