internal import AssayTransport
internal import Synchronization

/// What one connection or one open request holds of the process's budget.
///
/// It is given back when the last reference to it is gone: however a request ends, whether it is answered, reset, refused, or
/// dropped with its connection, nothing has to remember to release it. Requests of HTTP/1.1 that were sent ahead of their replies
/// have one together: their connection answers one after the other.
final class Reservation: Sendable {
    /// What things cost beside their bytes.
    ///
    /// Measured as resident memory, with TLS where there is some: an idle connection of HTTP/2 takes 54 KB, one of
    /// HTTP/1.1 38 KB and without TLS 25 KB, a half-open stream with few fields 3.5 KB, one whose reply nobody reads 10
    /// KB beside the reply, a request of HTTP/1.1 1.0 KB.
    enum Cost {
        static let secureConnection = 61_440
        static let plainConnection = 28_672
        static let stream = 10_240
        static let message = 1024
        /// A header field, beside the bytes of its name and value: in the tables of fields, which grow by doubling, and as
        /// two texts of their own.
        static let field = 128

        static func connection(isSecure: Bool) -> Int { isSecure ? secureConnection : plainConnection }
    }

    /// Room for the bytes of a usual request and its reply, so that those need one reservation.
    private static let allowance = 5120
    /// More is reserved in steps of this.
    private static let step = 4096

    private let room: PeerRoom
    private let isRequest: Bool
    private let used: Atomic<Int>
    private let reserved: Atomic<Int>

    private init(_ room: PeerRoom, isRequest: Bool, used: Int, reserved: Int) {
        self.room = room
        self.isRequest = isRequest
        self.used = Atomic(used)
        self.reserved = Atomic(reserved)
    }

    /// Reserves for a connection that was taken; nil when it does not fit.
    static func connection(_ room: PeerRoom, isSecure: Bool) -> Reservation? {
        let bytes = Cost.connection(isSecure: isSecure)
        guard room.reserve(connectionBytes: bytes) else { return nil }
        // A part of a frame has its room.
        return Reservation(room, isRequest: false, used: bytes - step, reserved: bytes)
    }

    /// Reserves for a request that begins; nil when it does not fit.
    ///
    /// - Parameter cost: what it takes beside its bytes.
    static func request(_ room: PeerRoom, cost: Int) -> Reservation? {
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

    /// Holds fewer bytes; what is reserved stays so, for what comes next.
    func drop(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
    }

    /// Holds this much from now on, and gives back what is not needed for it; only while nobody else holds more.
    func shrink(to count: Int) {
        used.store(count, ordering: .relaxed)
        let surplus = reserved.load(ordering: .relaxed) - count - Reservation.allowance
        guard surplus > 0 else { return }
        reserved.subtract(surplus, ordering: .relaxed)
        room.release(bytes: surplus)
    }
}
