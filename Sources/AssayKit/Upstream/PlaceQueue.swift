internal import AssayCore
internal import Synchronization

/// The places at a server that is asked, and the requests that wait for one.
final class PlaceQueue: Sendable {
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private struct State {
        var places = FairCapacity<ObjectIdentifier>()
        var number: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        /// The outcomes of requests that do not wait yet, or no longer wait.
        var outcomes: [UInt64: Bool] = [:]
    }

    private let state = Mutex(State())

    /// Takes a place, and waits for one if necessary.
    ///
    /// False when none becomes free within `patience`, or when the task is cancelled.
    func enter(_ app: ObjectIdentifier, _ asker: Asker, patience: Duration, clock: HostClock) async -> Bool {
        let (number, entry, displaced) = state.withLock { state in
            state.number += 1
            let entry = state.places.enter(state.number, app, asker, mayWait: patience > .zero)
            guard case .waiting(let displaced?) = entry else { return (state.number, entry, nil as Waiter?) }
            return (state.number, entry, Self.settle(displaced, false, &state))
        }
        displaced?.resume(returning: false)
        switch entry {
        case .admitted: return true
        case .refused: return false
        case .waiting: break
        }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if (try? await clock.sleep(for: patience)) != nil { self.abandon(number) }
            }
            let isAdmitted = await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in self.wait(number, waiter) }
            } onCancel: {
                self.abandon(number)
            }
            group.cancelAll()
            return isAdmitted
        }
    }

    /// Gives a place back.
    func leave(_ app: ObjectIdentifier, _ peer: PeerGroup) {
        let admitted = state.withLock { state in
            state.places.leave(app, peer).compactMap { Self.settle($0, true, &state) }
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    private func wait(_ number: UInt64, _ waiter: Waiter) {
        let outcome = state.withLock { state -> Bool? in
            if let outcome = state.outcomes.removeValue(forKey: number) { return outcome }
            state.waiters[number] = waiter
            return nil
        }
        if let outcome { waiter.resume(returning: outcome) }
    }

    private func abandon(_ number: UInt64) {
        let waiter = state.withLock { state in
            state.places.abandon(number) ? Self.settle(number, false, &state) : nil
        }
        waiter?.resume(returning: false)
    }

    /// Reports an outcome; when no task waits yet, it is kept for the one that will.
    private static func settle(_ number: UInt64, _ outcome: Bool, _ state: inout State) -> Waiter? {
        if let waiter = state.waiters.removeValue(forKey: number) { return waiter }
        state.outcomes[number] = outcome
        return nil
    }
}

/// The peer that a server is asked for.
struct Asker: Sendable {
    /// The facts about a peer.
    ///
    /// Where places are scarce, or the server asks for fewer questions, the higher goes first.
    enum Standing: Int, Sendable, CaseIterable, Comparable {
        /// The server refused much of its evidence lately.
        case suspect
        case unknown
        /// Evidence of the peer was verified lately, or the caller has a permission.
        case verified

        static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
    }

    let peer: PeerGroup
    let standing: Standing
}
