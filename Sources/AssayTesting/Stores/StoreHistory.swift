internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    /// Operations in an order, of which a store has the first ones: it tells how many.
    struct History: Sendable {
        let clock: SuiteClock
        /// Commits and puts, in turn.
        let count = 16

        func perform(_ operation: Int, on store: any StateStore) async throws {
            if operation.isMultiple(of: 2) {
                _ = try await store.commit(changes(operation))
            } else {
                try await store.put(Self.replaced, value: value(operation), expires: nil)
            }
        }

        private static let replaced = StateKey("history/replaced", "r")
        private static let counter = StateKey("history/counters", "c")

        private func changes(_ operation: Int) -> [StateChange] {
            let name = String(10 + operation)
            return [
                .insert(StateKey("history/first", name), value: value(operation), expires: nil, isListed: true),
                .advance(Self.counter, to: UInt64(operation) + 1),
                .insert(StateKey("history/last", name), value: value(operation), expires: nil, isListed: true),
            ]
        }

        /// Longer from operation to operation, with bytes that ends of lines and quotes have.
        private func value(_ operation: Int) -> [UInt8] {
            (0..<(20 + 9 * operation)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ operation) }
        }

        /// How many of the operations a store has; nil when it has a part of one.
        func operations(in store: any StateStore) async throws -> Int? {
            let first = try await store.list("history/first", after: nil, limit: 100)
            let last = try await store.list("history/last", after: nil, limit: 100)
            let replaced = try await store.get(Self.replaced)
            for operations in 0...count {
                let commits = (0..<operations).filter { $0.isMultiple(of: 2) }
                let entries = commits.map { StateEntry(name: String(10 + $0), value: value($0), expires: nil) }
                let puts = (0..<operations).filter { !$0.isMultiple(of: 2) }
                guard first == entries, last == entries, replaced == puts.last.map(value) else { continue }
                let raised = commits.last.map { UInt64($0) + 1 } ?? 0
                let isLess = try await store.advance(Self.counter, to: raised)
                let isMore = try await !store.advance(Self.counter, to: raised + 1)
                return isLess || isMore ? nil : operations
            }
            return nil
        }
    }
}
