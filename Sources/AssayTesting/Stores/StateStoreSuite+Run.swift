internal import AssayCore
internal import AssayKit
internal import Synchronization

extension StateStoreSuite {
    /// One running check: its store, its clock, and its findings.
    final class Run: Sendable {
        let store: any StateStore
        let clock: SuiteClock
        private let promise: String
        private let found = Mutex(Found())

        private struct Found {
            var failures: [SuiteFailure] = []
            var omitted: Set<ExactText> = []
        }

        /// The most findings of one check that are told.
        private static let limit = 10

        init(promise: String, store: any StateStore, clock: SuiteClock) {
            self.promise = promise
            self.store = store
            self.clock = clock
        }

        /// What was found, each finding once, and how much more.
        var failures: [SuiteFailure] {
            found.withLock { found in
                guard !found.omitted.isEmpty else { return found.failures }
                return found.failures + [SuiteFailure(promise: promise, detail: "and \(found.omitted.count) more")]
            }
        }

        func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            let failure = SuiteFailure(promise: promise, detail: Self.shortened(detail()))
            found.withLock { found in
                guard !found.failures.contains(failure) else { return }
                if found.failures.count < Self.limit {
                    found.failures.append(failure)
                } else {
                    found.omitted.insert(ExactText(failure.detail))
                }
            }
        }

        func expect<T: Equatable & Sendable>(_ actual: T, _ expected: T, _ what: String) {
            expect(actual == expected, "\(what): expected \(Self.plain(expected)), got \(Self.plain(actual))")
        }

        /// A commit was made.
        func expectMade(_ refused: Int?, _ what: String) {
            expect(refused == nil, "\(what): the commit should be made, and its change \(refused ?? 0) was refused")
        }

        /// A commit was refused, at the change that is named.
        func expectRefused(_ refused: Int?, at index: Int, _ what: String) {
            let found = refused.map { "change \($0) was named" } ?? "the commit was made"
            expect(refused == index, "\(what): change \(index) should be refused and named, and \(found)")
        }

        /// A value as an author reads it, without the parts of its type.
        private static func plain(_ value: Any) -> String {
            if let entry = value as? StateEntry {
                let end = entry.expires.map { "until \($0)" } ?? "without an end"
                return "\(entry.name.debugDescription) = \(entry.value) \(end)"
            }
            if let entries = value as? [StateEntry] { return "[\(entries.map { plain($0) }.joined(separator: ", "))]" }
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .optional else { return "\(value)" }
            return mirror.children.first.map { plain($0.value) } ?? "nil"
        }

        /// The beginning and the end: some checks are about keys of a thousand characters.
        private static func shortened(_ text: String) -> String {
            text.count <= 240 ? text : "\(text.prefix(120))…\(text.suffix(100))"
        }
    }

    /// A key as an author reads it.
    static func words(_ key: StateKey) -> String {
        "\(key.name.debugDescription) of \(key.space.debugDescription)"
    }
}
