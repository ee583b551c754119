internal import Synchronization

/// What one connection or one open request holds of the process's budget.
///
/// It is released with its last reference: however a request ends, whether it is answered, reset, refused, or dropped
/// with its connection, no code must remember to release it. Pipelined requests of HTTP/1.1 share one: their connection
/// answers one after the other.
final class Reservation: Sendable {
    /// The costs of connections and requests in addition to their bytes.
    ///
    /// Measured as resident memory, with TLS unless stated otherwise: an idle connection of HTTP/2 takes 54 KB, one of
    /// HTTP/1.1 38 KB and without TLS 25 KB, a half-open stream with few fields 3.5 KB, one whose reply is not read 10
    /// KB in addition to the reply, a request of HTTP/1.1 1.0 KB.
    enum Cost {
        static let secureConnection = 61_440
        static let plainConnection = 28_672
        static let stream = 10_240
        static let message = 1024
        /// A header field, in addition to the bytes of its name and value: entries in tables, which grow by doubling,
        /// and two separate texts.
        static let field = 128

        static func connection(isSecure: Bool) -> Int { isSecure ? secureConnection : plainConnection }
    }

    /// Room for a usual request and its reply, so that those need one reservation.
    private static let allowance = 5120
    /// More is reserved in steps of this size.
    private static let step = 4096

    private let room: PeerBudget
    private let isRequest: Bool
    private let used: Atomic<Int>
    private let reserved: Atomic<Int>

    private init(_ room: PeerBudget, isRequest: Bool, used: Int, reserved: Int) {
        self.room = room
        self.isRequest = isRequest
        self.used = Atomic(used)
        self.reserved = Atomic(reserved)
    }

    /// Reserves for an accepted connection; nil when it does not fit.
    static func connection(_ room: PeerBudget, isSecure: Bool) -> Reservation? {
        let bytes = Cost.connection(isSecure: isSecure)
        guard room.reserve(connectionBytes: bytes) else { return nil }
        // Includes room for a part of a frame.
        return Reservation(room, isRequest: false, used: bytes - step, reserved: bytes)
    }

    /// Reserves for a request that begins; nil when it does not fit.
    ///
    /// - Parameter cost: its cost in addition to its bytes.
    static func request(_ room: PeerBudget, cost: Int) -> Reservation? {
        guard room.openStream() else { return nil }
        guard room.reserve(bytes: cost + allowance) else {
            room.closeStream()
            return nil
        }
        return Reservation(room, isRequest: true, used: cost, reserved: cost + allowance)
    }

    deinit {
        room.release(bytes: reserved.load(ordering: .relaxed))
        if isRequest { room.closeStream() }
    }

    /// What it holds of the budget.
    var bytes: Int { reserved.load(ordering: .relaxed) }

    /// Holds more bytes; false when they do not fit.
    func hold(_ count: Int) -> Bool {
        let wanted = used.add(count, ordering: .relaxed).newValue
        let present = reserved.load(ordering: .relaxed)
        if wanted > present {
            let more = (wanted - present + Reservation.step - 1) / Reservation.step * Reservation.step
            guard isRequest ? room.reserve(bytes: more) : room.reserve(connectionBytes: more) else {
                used.subtract(count, ordering: .relaxed)
                return false
            }
            reserved.add(more, ordering: .relaxed)
        }
        return true
    }

    /// Holds fewer bytes; the reservation stays, for later bytes.
    func drop(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
    }

    /// Holds this many bytes from now on, and gives back the rest; call it only while no other code adds to it.
    func shrink(to count: Int) {
        used.store(count, ordering: .relaxed)
        let surplus = reserved.load(ordering: .relaxed) - count - Reservation.allowance
        guard surplus > 0 else { return }
        reserved.subtract(surplus, ordering: .relaxed)
        room.release(bytes: surplus)
    }
}
