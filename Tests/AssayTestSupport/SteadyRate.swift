internal import AssayCore
public import AssayKit
internal import Foundation
internal import Synchronization

/// Inserts used identifiers at a steady rate while the store removes those that have expired, and prints what that costs.
///
/// Each identifier lives for as long as it takes to insert `rows` of them. So in the first half of a run the store fills up to
/// that number, and in the second half as many are removed as are inserted: rate, latency and size have to stay.
///
/// This measures SQLite, PostgreSQL and Valkey (or Redis) one after the other; `PostgresTests.SteadyRateTests` is one of them:
///
///     ASSAY_STORE_ROWS=10000000 swift test --no-parallel --filter SteadyRateTests
///
/// `ASSAY_STORE_RATE` sets the insertions a second; otherwise it is half of what the store does in the first ten seconds. A run takes
/// twice `rows` / `rate` seconds, and at least five minutes: with ten million rows and 2000 a second, 2 hours and 47 minutes for each store.
public struct SteadyRate: Sendable {
    /// What a store holds at one time.
    public struct Size: Sendable {
        /// The entries, and the bytes that they take with their indexes: on the disk, or in the memory of a server in memory.
        public let rows, bytes: Int

        /// Takes what was measured.
        public init(rows: Int, bytes: Int) {
            self.rows = rows
            self.bytes = bytes
        }
    }

    /// What `ASSAY_STORE_ROWS` says; nil when it is not set.
    public static let rows = number("ASSAY_STORE_ROWS")
    /// Why the measurements do not run.
    public static let reason = "set ASSAY_STORE_ROWS to measure"

    /// Connections of a server that many devices use.
    private static let tasks = 64
    private static let calibration = Duration.seconds(10)
    private static let lines = 40
    /// The least time of the second half, and how much of it passes before size and rows have to stay: PostgreSQL begins to
    /// clear up a table once in a minute.
    private static let least = Duration.seconds(300)
    private static let settling = Duration.seconds(150)

    private let name: String
    private let store: any StateStorePlugin
    private let folder: String
    private let delay: Duration
    private let size: @Sendable () async throws -> Size

    /// - Parameters:
    ///   - name: the store, for the first line.
    ///   - folder: everything that the store has on the disk.
    ///   - delay: after which time beyond its end the store may still hold an entry.
    ///   - size: measures the store.
    public init(
        _ name: String, _ store: any StateStorePlugin, folder: String, delay: Duration,
        size: @escaping @Sendable () async throws -> Size
    ) {
        self.name = name
        self.store = store
        self.folder = folder
        self.delay = delay
        self.size = size
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Measures, and prints a table; returns what is not as it has to be.
    public func run() async throws -> [String] {
        guard let rows = Self.rows else { return ["ASSAY_STORE_ROWS is not set"] }
        let cleaning = Task { [store] in try await store.run() }
        defer { cleaning.cancel() }
        let rate = try await self.rate()
        let lifetime = Duration.milliseconds(rows * 1000 / rate)
        let whole = lifetime + delay + max(lifetime, Self.least)
        let interval = max(whole / Self.lines, .seconds(10))
        say(
            "\(name): \(rows) identifiers that live for \(lifetime.wholeSeconds) s, \(rate) a second by \(Self.tasks) tasks, "
                + "for \(whole.wholeSeconds) s")
        say("| s | inserted/s | removed/s | rows | p50 ms | p99 ms | most ms | store MiB | folder MiB |")
        say("|---|---|---|---|---|---|---|---|---|")
        let latencies = Latencies()
        let begin = ContinuousClock.now
        let inserting = Task { [store] in
            try await Self.insert(into: store, rate: rate, lifetime: lifetime, until: begin + whole, latencies)
        }
        defer { inserting.cancel() }
        var (reports, before): ([Line], Size) = ([], try await size())
        while ContinuousClock.now < begin + whole {
            try await Task.sleep(until: min(begin + interval * (reports.count + 1), begin + whole), clock: .continuous)
            let (found, now) = (latencies.take(), try await size())
            let time = ContinuousClock.now - begin
            let seconds = (time - (reports.last?.time ?? .zero)) / Duration.seconds(1)
            reports.append(Line(time, seconds, found, before: before, now, folder: Self.bytes(in: folder)))
            say(reports[reports.count - 1].text)
            before = now
        }
        try await inserting.value
        return Self.findings(reports, steadyFrom: lifetime + delay + Self.settling, rate: rate)
    }

    /// Half of what many tasks do in a while, unless it is given.
    private func rate() async throws -> Int {
        if let rate = Self.number("ASSAY_STORE_RATE") { return rate }
        let end = ContinuousClock.now + Self.calibration
        let soon = HostClock.system.now + .seconds(20)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<Self.tasks {
                group.addTask { [store] in
                    var number = 0
                    while ContinuousClock.now < end {
                        number += 1
                        _ = try await store.commit([Self.insertion("first-\(task)-\(number)", soon)])
                    }
                    return number
                }
            }
            return try await group.reduce(0, +)
        }
        return max(count / Int(Self.calibration.wholeSeconds) / 2, 1)
    }

    private static func insertion(_ name: String, _ expires: Instant) -> StateChange {
        .insert(StateKey("challenges", name), value: [], expires: expires, isListed: false)
    }

    /// Each task has its own times at which an insertion is due, from which its latency counts.
    private static func insert(
        into store: any StateStorePlugin, rate: Int, lifetime: Duration, until end: ContinuousClock.Instant,
        _ latencies: Latencies
    ) async throws {
        let pace = Duration.seconds(1) * tasks / rate
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var (due, number) = (begin + pace * task / tasks, 0)
                    while due < end {
                        try await Task.sleep(until: due, clock: .continuous)
                        number += 1
                        let name = "consumed-\(task)-\(number)-0123456789abcdef"
                        guard try await store.commit([insertion(name, HostClock.system.now + lifetime)]) == nil else {
                            throw Refused(name: name)
                        }
                        latencies.note(ContinuousClock.now - due)
                        due += pace
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// An identifier that was never used counts as used.
    private struct Refused: Error {
        let name: String
    }

    private static func findings(_ lines: [Line], steadyFrom start: Duration, rate: Int) -> [String] {
        let steady = lines.filter { $0.time > start }
        guard let first = steady.first, let last = steady.last, steady.count > 2 else {
            return ["too few rows to measure"]
        }
        var found: [String] = []
        let seconds = (last.time - first.time) / Duration.seconds(1)
        let inserted = Double(steady.dropFirst().reduce(0) { $0 + $1.count }) / seconds
        if inserted < Double(rate) * 0.95 { found.append("\(Int(inserted)) insertions a second instead of \(rate)") }
        if Double(last.size.rows) > Double(first.size.rows) * 1.1 {
            found.append("the rows went from \(first.size.rows) to \(last.size.rows)")
        }
        if Double(last.size.bytes) > Double(first.size.bytes) * 1.25 {
            found.append("the size went from \(first.size.bytes) to \(last.size.bytes) bytes")
        }
        return found
    }

    private static func bytes(in folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)
        return (files?.allObjects ?? []).reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// One line of the table.
private struct Line {
    let time: Duration
    let count: Int
    let size: SteadyRate.Size
    let text: String

    init(
        _ time: Duration, _ seconds: Double, _ found: (count: Int, median: Double, late: Double, most: Double),
        before: SteadyRate.Size, _ now: SteadyRate.Size, folder: Int
    ) {
        self.time = time
        count = found.count
        size = now
        let removed = Double(before.rows + found.count - now.rows) / seconds
        let times = [found.median, found.late, found.most].map { "\(($0 * 10).rounded() / 10)" }.joined(
            separator: " | ")
        text =
            "| \(time.wholeSeconds) | \(Int(Double(found.count) / seconds)) | \(Int(max(removed, 0))) | \(now.rows) | \(times) "
            + "| \(now.bytes >> 20) | \(folder >> 20) |"
    }
}

/// Latencies in milliseconds, of many tasks.
private final class Latencies: Sendable {
    private let all = Mutex<[Double]>([])

    func note(_ time: Duration) {
        all.withLock { $0.append(time / Duration.milliseconds(1)) }
    }

    /// Their number, the median, the 99th percentile and the longest since the last time.
    func take() -> (count: Int, median: Double, late: Double, most: Double) {
        let sorted = all.withLock { all in
            defer { all = [] }
            return all
        }.sorted()
        guard let most = sorted.last else { return (0, 0, 0, 0) }
        return (sorted.count, sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], most)
    }
}
