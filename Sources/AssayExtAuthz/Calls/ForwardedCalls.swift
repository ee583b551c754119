internal import NIOHPACK
internal import Synchronization

/// The reservations of calls on their way from their streams to the service, which the library between them does not pass on.
///
/// A call has its number in a header field, which no client can choose.
final class ForwardedCalls: Sendable {
    static let header = "assay-call"

    private struct State {
        var issued: UInt64 = 0
        var reservations: [UInt64: CallReservation] = [:]
    }

    private let state = Mutex(State())

    /// A call continues to its service.
    ///
    /// Returns the number for ``end(_:)``.
    func begin(_ reservation: CallReservation, _ head: inout HPACKHeaders) -> UInt64 {
        let number = state.withLock { state in
            state.issued &+= 1
            state.reservations[state.issued] = reservation
            return state.issued
        }
        head.remove(name: ForwardedCalls.header)
        head.add(name: ForwardedCalls.header, value: String(number))
        return number
    }

    /// The service has received a call; nil when its stream is closed already.
    func take(_ number: some StringProtocol) -> CallReservation? {
        guard let number = UInt64(number) else { return nil }
        return state.withLock { $0.reservations.removeValue(forKey: number) }
    }

    /// The stream of a call is closed; returns whether its service has received it.
    func end(_ number: UInt64) -> Bool {
        state.withLock { $0.reservations.removeValue(forKey: number) } == nil
    }

    /// How many calls are on their way.
    var count: Int { state.withLock { $0.reservations.count } }
}
