internal import AssayKit
internal import Synchronization

extension StateStoreSuite {
    /// One check under way: its store, its clock, and what it found.
    final class Run: Sendable {
        let store: any StateStore
        let clock: SuiteClock
        private let promise: String
        private let found = Mutex<[SuiteFailure]>([])

        init(promise: String, store: any StateStore, clock: SuiteClock) {
            self.promise = promise
            self.store = store
            self.clock = clock
        }

        /// What was found, each finding once.
        var failures: [SuiteFailure] { found.withLock { $0 } }

        func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            let failure = SuiteFailure(promise: promise, detail: Self.shortened(detail()))
            found.withLock { if !$0.contains(failure) { $0.append(failure) } }
        }

        func expect<T: Equatable & Sendable>(_ actual: T, _ expected: T, _ what: String) {
            expect(actual == expected, "\(what): expected \(expected), got \(actual)")
        }

        /// The beginning and the end: some checks are about keys of a thousand characters.
        private static func shortened(_ text: String) -> String {
            text.count <= 240 ? text : "\(text.prefix(120))…\(text.suffix(100))"
        }
    }
}
