#if Simulator
internal import AssayCore
internal import NIOCore

/// Attests the keys of the simulated devices, and makes what a run sends: an assertion signs a challenge of the server, and a
/// limited-use token is an assertion's reply.
struct LoadPreparation: Sendable {
    /// How many of each are made.
    struct Amounts: Sendable, Equatable {
        var devices: Int
        var attestations = 0
        var assertions = 0
        var limitedUse = 0
    }

    /// How much earlier than the server a challenge is taken as expired.
    private static let margin = Duration.seconds(10)
    /// How many chains of requests run at once.
    private static let width = 32

    let requests: LoadRequests
    let devices: LoadDevices
    let amounts: Amounts
    let replays: Double
    let call: @Sendable (ByteBuffer) async throws -> LoadReply

    private struct Attested: Sendable {
        let key: LoadDevices.Key
        let artifact: [UInt8]
        let token: String
    }

    private struct Portion: Sendable {
        var device: LoadStock.Device
        var limitedUse: [ByteBuffer] = []
    }

    /// Makes everything; `report` is told what was done.
    func run(report: @escaping @Sendable (String) -> Void) async throws -> LoadStock {
        var stock = LoadStock(challenge: requests.challenge(), replays: replays)
        let start = ContinuousClock.now
        let attested = try await each(amounts.devices) { _ in try await attest() }
        report("attested \(amounts.devices) devices in \(Self.seconds(since: start))")
        let signing = ContinuousClock.now
        let portions = try await each(amounts.devices) { [amounts] index in
            try await portion(
                attested[index], assertions: Self.part(amounts.assertions, index, amounts.devices),
                limitedUse: Self.part(amounts.limitedUse, index, amounts.devices))
        }
        stock.devices = portions.map(\.device)
        for token in portions.flatMap(\.limitedUse) { stock.limitedUse.append(token) }
        let attestations = try await each(amounts.attestations) { _ in try await attestation().prepared }
        for prepared in attestations { stock.attestations.append(prepared) }
        report(
            "prepared \(amounts.assertions) assertions, \(amounts.attestations) attestations and "
                + "\(amounts.limitedUse) limited-use tokens in \(Self.seconds(since: signing))")
        return stock
    }

    /// What one of so many devices makes of an amount.
    static func part(_ amount: Int, _ index: Int, _ devices: Int) -> Int {
        amount / devices + (index < amount % devices ? 1 : 0)
    }

    private func attest() async throws -> Attested {
        let (key, prepared) = try await attestation()
        let reply = try await accepted(prepared.request, "an attestation")
        return Attested(
            key: key, artifact: try Self.bytes("artifact", of: reply),
            token: try Self.text("token", of: reply["appCheckToken"] ?? reply))
    }

    private func attestation() async throws -> (key: LoadDevices.Key, prepared: LoadStock.Prepared) {
        let (challenge, expires) = try await challenge()
        let key = try devices.makeKey(challenge)
        return (key, LoadStock.Prepared(request: requests.attestation(key.attestation), expires: expires))
    }

    private func portion(_ attested: Attested, assertions: Int, limitedUse: Int) async throws -> Portion {
        var portion = Portion(
            device: LoadStock.Device(
                verification: requests.verification(attested.token), question: requests.question(attested.token)))
        for _ in 0..<limitedUse {
            let reply = try await accepted(assertion(attested, limitedUse: true).request, "an assertion")
            portion.limitedUse.append(requests.verification(try Self.text("token", of: reply)))
        }
        // After the others, so that the counters of a device rise in the order in which they are sent.
        for _ in 0..<assertions {
            portion.device.assertions.append(try await assertion(attested, limitedUse: false))
        }
        return portion
    }

    private func assertion(_ attested: Attested, limitedUse: Bool) async throws -> LoadStock.Prepared {
        let (challenge, expires) = try await challenge()
        let assertion = try attested.key.sign(attested.artifact, challenge)
        return LoadStock.Prepared(
            request: requests.assertion(attested.artifact, assertion, challenge, limitedUse: limitedUse),
            expires: expires)
    }

    private func challenge() async throws -> (bytes: [UInt8], expires: NIODeadline) {
        let now = NIODeadline.now()
        let reply = try await accepted(requests.challenge(), "a challenge")
        let ttl = reply["ttl"]?.string.flatMap { $0.utf8.last == UInt8(ascii: "s") ? Int64($0.dropLast()) : nil } ?? 300
        let life: Duration = max(.zero, .seconds(min(ttl, 86_400)) - Self.margin)
        return (try Self.bytes("challenge", of: reply), now + TimeAmount(life))
    }

    /// How often a server may say that it cannot keep up before the preparation ends.
    private static let patience = 50

    /// The reply to a request that must be accepted.
    ///
    /// It is sent again while the server says that it cannot keep up.
    private func accepted(_ request: ByteBuffer, _ what: String) async throws -> JSON {
        try Task.checkCancellation()
        var reply = try await call(request)
        for _ in 0..<Self.patience where reply.status == 503 {
            try await Task.sleep(for: .milliseconds(100))
            reply = try await call(request)
        }
        guard reply.isSuccess, let json = try? JSON.parse(reply.body) else {
            throw LoadFailure(
                "the server refused \(what) with status \(reply.status): "
                    + String(decoding: reply.body.prefix(300), as: UTF8.self))
        }
        return json
    }

    /// Makes a number of values, some at once, in order.
    private func each<Value: Sendable>(
        _ count: Int, _ make: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var made = [Value?](repeating: nil, count: count)
            var begun = 0
            while begun < min(count, Self.width) {
                group.addTask { [begun] in (begun, try await make(begun)) }
                begun += 1
            }
            while let (index, value) = try await group.next() {
                made[index] = value
                guard begun < count else { continue }
                group.addTask { [begun] in (begun, try await make(begun)) }
                begun += 1
            }
            return made.compactMap(\.self)
        }
    }

    private static func text(_ name: String, of reply: JSON) throws(LoadFailure) -> String {
        guard let text = reply[name]?.string else { throw LoadFailure("a reply has no `\(name)`") }
        return text
    }

    private static func bytes(_ name: String, of reply: JSON) throws(LoadFailure) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name, of: reply)) else {
            throw LoadFailure("`\(name)` is not Base 64")
        }
        return bytes
    }

    private static func seconds(since start: ContinuousClock.Instant) -> String {
        "\(LoadText.fixed((ContinuousClock.now - start) / .seconds(1), 1)) s"
    }
}
#endif
