internal import AssayCore
internal import AssayKit
internal import Synchronization

extension StateStoreSuite {
    /// One running check: its store, its clock, and its findings.
    final class Run: Sendable {
        /// The store; its operations are noted.
        let store: any StateStore
        /// The store as it was made.
        let bare: any StateStore
        let place: Place
        let clock: SuiteClock
        let progress: CheckProgress
        let effort: ConformanceEffort
        private let found = Mutex(Found())

        private struct Found {
            var findings: [String] = []
            var omitted: Set<ExactText> = []
            var notApplicable: String?
            var notLookedAt: [String] = []
        }

        /// The most findings of one check that are told.
        private static let limit = 10

        init(
            _ store: any StateStore, _ place: Place, _ clock: SuiteClock, _ progress: CheckProgress,
            _ effort: ConformanceEffort
        ) {
            bare = store
            self.store = NotedStore(store: store, progress: progress)
            self.place = place
            self.clock = clock
            self.progress = progress
            self.effort = effort
        }

        /// What an operator knows of the store; nil for one that no operator can choose.
        var descriptor: StorageDescriptor? { (bare as? any StateStorePlugin).map { type(of: $0).descriptor } }

        /// How the check ended: each finding once, and how much more.
        var outcome: ConformanceReport.Outcome {
            let calls = progress.calls
            return found.withLock { found in
                guard found.findings.isEmpty else {
                    let more = found.omitted.isEmpty ? [] : ["and \(found.omitted.count) more"]
                    return .failed(found.findings + more)
                }
                if let reason = found.notApplicable { return .notApplicable(reason) }
                guard found.notLookedAt.isEmpty else {
                    return .notLookedAt(found.notLookedAt.joined(separator: "; "), calls: 0)
                }
                return .passed(calls: calls)
            }
        }

        /// The promise is none for this store.
        func skip(_ reason: String) { found.withLock { $0.notApplicable = reason } }

        /// What the check cannot look at.
        func overlook(_ what: String) { found.withLock { $0.notLookedAt.append(what) } }

        /// What a restart does; nil for a store that keeps nothing.
        func reopen() async throws -> (any StateStore)? {
            let store = try await progress.during("open") { try await place.reopen(bare, clock.host) }
            return store.map { NotedStore(store: $0, progress: progress) }
        }

        /// Opens the same data once more while the store is open; nil where that cannot be done.
        func another() async throws -> (any StateStore)? {
            let store = try await progress.during("open") { try await place.another(clock.host) }
            return store.map { NotedStore(store: $0, progress: progress) }
        }

        func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            let finding = Self.shortened(detail())
            found.withLock { found in
                guard !found.findings.contains(where: finding.isExactly) else { return }
                if found.findings.count < Self.limit {
                    found.findings.append(finding)
                } else {
                    found.omitted.insert(ExactText(finding))
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
