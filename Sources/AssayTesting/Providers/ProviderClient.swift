internal import AssayCore
internal import AssayHosting

/// The simulated devices of one check, and what they send.
struct ProviderClient: Sendable {
    let bench: ConformanceBench
    let exchange: ProviderSubject.Exchange
    let platform: String

    /// The body of a genuine request.
    func body(device: Int = 0, app: TestApp = .first) async throws -> JSON {
        let resource = app.resource(platform: platform)
        let make: @Sendable (String, JSON) async throws -> JSON = { method, body in
            let answer = await bench.call(Call(method, resource: resource, body: body))
            guard let reply = answer.reply else { throw Unusable(description: "\(method): \(answer.words)") }
            return reply
        }
        let challenge: @Sendable (String) async throws -> [UInt8] = { method in
            guard let bytes = try await make(method, [:])["challenge"]?.string.flatMap({ Base64.decode($0) }) else {
                throw Unusable(description: "\(method) gives no challenge")
            }
            return bytes
        }
        var made: [UInt8] = []
        if let method = exchange.challengeMethod { made = try await challenge(method) }
        return try await exchange.request(
            TestDevice(
                app: app, number: device, challenge: made, now: bench.clock.now, call: make, makeChallenge: challenge))
    }

    func exchange(_ body: JSON, at app: TestApp = .first, ticking: Bool = false) async -> ConformanceBench.Answer {
        await bench.call(
            Call(exchange.method, resource: app.resource(platform: platform), body: body), ticking: ticking)
    }

    /// The token of a reply, which is the whole reply or a part of it.
    func token(in reply: JSON) -> String? {
        reply["token"]?.string ?? reply["appCheckToken"]?["token"]?.string
    }

    /// Expects a refusal that is no fault.
    ///
    /// - Parameter field: the field that was changed; an open one may be accepted.
    func refuses(_ answer: ConformanceBench.Answer, _ what: String, _ field: String?, _ run: ConformanceRun) {
        if answer.reply != nil {
            guard let field, exchange.open[field] != nil else { return run.expect(false, "accepted: \(what)") }
            return
        }
        run.expect(!answer.isFault || answer.brokeContract, "\(what): \(answer.words)")
    }

    /// A genuine request that did not come to what it is for.
    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }
}
