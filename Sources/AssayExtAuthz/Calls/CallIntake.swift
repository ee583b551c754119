/// Collects one call's message, and decides when the call may continue to its service.
///
/// Every method here takes one message. It is held here, and nowhere else, until the client has ended it, so that a
/// client that never does so uses no more than what was reserved for it. `reserve` is asked before anything is held.
struct CallIntake {
    enum Action: Equatable {
        /// More is to come, or the call is over.
        case wait
        /// The call is complete: these are its message's bytes without their prefix of five.
        case deliver([UInt8])
        case refuse(CallRefusal)
    }

    private enum Phase {
        case opening
        case receiving
        case over
    }

    /// A byte that says whether the message is compressed, and its length (grpc/doc/PROTOCOL-HTTP2.md).
    static let prefixLength = 5

    private let limit: Int
    private var phase = Phase.opening
    private var held: [UInt8] = []
    private var capacity = 0
    /// What was reserved and must be released when the call is answered or over.
    private(set) var reserved = 0

    /// - Parameter messageBytes: the largest message.
    init(messageBytes: Int) {
        limit = max(0, min(messageBytes, .max - CallIntake.prefixLength)) + CallIntake.prefixLength
    }

    var isReceiving: Bool { phase != .over }

    /// The header fields arrived.
    ///
    /// - Parameters:
    ///   - bytes: their size.
    ///   - flaw: why they must not reach the service.
    ///   - ends: whether the client sends nothing more.
    mutating func receive(headBytes: Int, flaw: CallRefusal?, ends: Bool, reserve: (Int) -> Bool) -> Action {
        switch phase {
        case .over: return .wait
        case .receiving:
            // Trailing fields, which calls do not have; they only mean the end.
            return ends ? end() : refuse(.malformedHead)
        case .opening:
            if let flaw { return refuse(flaw) }
            guard take(headBytes, reserve) else { return refuse(.noBytes) }
            phase = .receiving
            return ends ? end() : .wait
        }
    }

    /// A part of the message arrived.
    mutating func receive(_ bytes: some Collection<UInt8>, ends: Bool, reserve: (Int) -> Bool) -> Action {
        guard case .receiving = phase else { return .wait }
        guard bytes.count <= limit - held.count else { return refuse(.tooLarge) }
        guard hold(bytes, ends: ends, reserve) else { return refuse(.noBytes) }
        if let declared {
            guard declared <= limit else { return refuse(.tooLarge) }
            guard held.count <= declared else { return refuse(.notOneMessage) }
        }
        return ends ? end() : .wait
    }

    /// The time to receive the message is over.
    mutating func expire() -> Action {
        isReceiving ? refuse(.late) : .wait
    }

    /// The call is answered or over: nothing more is held for it.
    ///
    /// Returns what must be released.
    mutating func release() -> Int {
        phase = .over
        held = []
        capacity = 0
        defer { reserved = 0 }
        return reserved
    }

    /// The length of the message with its prefix, as soon as it is known.
    private var declared: Int? {
        guard held.count >= CallIntake.prefixLength else { return nil }
        return CallIntake.prefixLength + held[1..<CallIntake.prefixLength].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func end() -> Action {
        guard let declared, held.count == declared else { return refuse(.notOneMessage) }
        phase = .over
        defer { held = [] }
        return .deliver(held)
    }

    private mutating func refuse(_ refusal: CallRefusal) -> Action {
        phase = .over
        held = []
        return .refuse(refusal)
    }

    private mutating func hold(_ bytes: some Collection<UInt8>, ends: Bool, _ reserve: (Int) -> Bool) -> Bool {
        let needed = held.count + bytes.count
        if needed > capacity {
            // Doubled, so that many small parts are not copied repeatedly; but not beyond the declared length.
            var wanted = ends ? needed : max(needed, min(2 * capacity, limit))
            if let declared, declared >= needed { wanted = min(wanted, declared) }
            guard take(wanted - capacity, reserve) else { return false }
            held.reserveCapacity(wanted)
            capacity = wanted
        }
        held.append(contentsOf: bytes)
        return true
    }

    private mutating func take(_ bytes: Int, _ reserve: (Int) -> Bool) -> Bool {
        guard reserve(bytes) else { return false }
        reserved += bytes
        return true
    }
}
