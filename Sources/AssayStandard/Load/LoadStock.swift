#if Simulator
internal import NIOCore

/// What was prepared before the measured phase.
///
/// It is used on one event loop alone, as soon as a run has begun.
struct LoadStock: Sendable {
    /// A request that is good once, and not after its challenge has expired.
    struct Prepared: Sendable {
        let request: ByteBuffer
        let expires: NIODeadline
    }

    /// One device: its assertions are sent in the order of their counters, one at a time.
    struct Device: Sendable {
        var assertions = CircularBuffer<Prepared>()
        var isBusy = false
        let verification: ByteBuffer
        let question: ByteBuffer
    }

    /// A request with what its end means for the stock.
    struct Pick {
        let request: ByteBuffer
        /// The device that cannot assert until the request has ended.
        var device: Int?
        /// Whether it presents a token that was accepted before, and must be refused.
        var isReplay = false
    }

    /// The most tokens that are remembered for replays.
    private static let usedLimit = 1024

    var devices: [Device] = []
    var attestations = CircularBuffer<Prepared>()
    var limitedUse = CircularBuffer<ByteBuffer>()
    let challenge: ByteBuffer
    /// Which share of `consume` presents a used token.
    let replays: Double
    /// How many prepared requests were too old to be sent.
    private(set) var expired = 0

    private var used = CircularBuffer<ByteBuffer>()
    private var owedReplays = 0.0
    private var turn = 0

    init(challenge: ByteBuffer, replays: Double) {
        self.challenge = challenge
        self.replays = replays
    }

    /// How many requests of a method are left; nil for methods that never run out.
    func left(_ method: LoadMethod) -> Int? {
        switch method {
        case .challenge, .verify, .proxy: nil
        case .attest: attestations.count
        case .assert: devices.reduce(0) { $0 + $1.assertions.count }
        case .consume: limitedUse.count
        }
    }

    /// The next request of a method; nil when the prepared ones have run out.
    mutating func next(_ method: LoadMethod, at now: NIODeadline) -> Pick? {
        switch method {
        case .challenge: return Pick(request: challenge)
        case .attest:
            while let prepared = attestations.popFirst() {
                if prepared.expires > now { return Pick(request: prepared.request) }
                expired += 1
            }
            return nil
        case .assert: return assertion(at: now)
        case .verify: return nextDevice().map { Pick(request: devices[$0].verification) }
        case .proxy: return nextDevice().map { Pick(request: devices[$0].question) }
        case .consume:
            owedReplays += replays
            if owedReplays >= 1, let token = used.popFirst() {
                owedReplays -= 1
                used.append(token)
                return Pick(request: token, isReplay: true)
            }
            return limitedUse.popFirst().map { Pick(request: $0) }
        }
    }

    /// A request has ended.
    mutating func ended(_ pick: Pick, method: LoadMethod, isAccepted: Bool) {
        if let device = pick.device { devices[device].isBusy = false }
        guard method == .consume, isAccepted, !pick.isReplay, replays > 0 else { return }
        if used.count >= Self.usedLimit { _ = used.popFirst() }
        used.append(pick.request)
    }

    private mutating func nextDevice() -> Int? {
        guard !devices.isEmpty else { return nil }
        turn = (turn + 1) % devices.count
        return turn
    }

    private mutating func assertion(at now: NIODeadline) -> Pick? {
        for _ in devices.indices {
            guard let index = nextDevice(), !devices[index].isBusy else { continue }
            while let prepared = devices[index].assertions.popFirst() {
                guard prepared.expires > now else {
                    expired += 1
                    continue
                }
                devices[index].isBusy = true
                return Pick(request: prepared.request, device: index)
            }
        }
        return nil
    }
}
#endif
