import AssayCore
import NIOCore
import Testing

@testable import AssayStandard

@Suite("Results of a load")
struct LoadResultTests {
    /// A result of calls with these latencies in microseconds.
    private func result(_ latencies: [UInt64]) -> LoadResult {
        var tally = LoadTally()
        for latency in latencies {
            tally[.assert].due += 1
            tally[.assert].sent += 1
            if latency % 7 == 0 {
                tally[.assert].refused += 1
                tally[.assert].refusal.record(latency)
                tally.count(.init(method: .assert, status: 429, words: Array("{}".utf8)))
            } else {
                tally[.assert].accepted += 1
                tally[.assert].acceptedInTime += 1
                tally[.assert].latency.record(latency)
            }
        }
        return LoadResult(
            .init(tally: tally, seconds: 10, endedEarly: nil, generator: LoadUsage(), server: nil),
            url: "http://127.0.0.1", mix: "assert=1", pace: "")
    }

    private static let latencies = (1...5000).map { UInt64($0 * $0 % 3_000_017) }

    @Test("Results of generators, written and read, add up to the result of the whole")
    func merge() throws {
        let whole = result(Self.latencies)
        var sum: LoadResult?
        for part in [Self.latencies[..<1000], Self.latencies[1000..<1001], Self.latencies[1001...]] {
            let read = try LoadResult(result(Array(part)).json.encoded, name: "a file")
            if sum == nil { sum = read } else { sum?.add(read) }
        }
        let counts = try #require(sum?.tally[.assert])
        let expected = whole.tally[.assert]
        for (name, path) in LoadCounts.numbers {
            #expect(counts[keyPath: path] == expected[keyPath: path], "\(name)")
        }
        #expect(counts.latency.pairs.map(\.value) == expected.latency.pairs.map(\.value))
        #expect(counts.latency.pairs.map(\.count) == expected.latency.pairs.map(\.count))
        for (label, percentile) in LoadText.percentiles {
            // The greatest value of all is known to three digits, as every other one is.
            for path in [\LoadCounts.latency, \.refusal] {
                let (found, whole) = (counts[keyPath: path], expected[keyPath: path])
                let (sum, single) = (found.milliseconds(percentile) ?? -1, whole.milliseconds(percentile) ?? -1)
                #expect(abs(sum - single) <= single.magnitude / 1000, "\(label)")
            }
        }
        #expect(sum?.tally.problems == whole.tally.problems)
        #expect(sum?.generators == 3 && sum?.seconds == 10)
        #expect(abs((sum?.answeredRate ?? 0) - whole.answeredRate) < 0.001)
    }

    @Test("A file that is no result is refused", arguments: ["", "{}", "[]", #"{"format":"assay-load 2"}"#])
    func noResult(_ text: String) {
        #expect(throws: LoadFailure.self) { try LoadResult(Array(text.utf8), name: "a file") }
    }

    @Test("Numbers out of their range in a file are ignored, and none overflows")
    func hostile() throws {
        let text = """
            {"format": "assay-load 1", "seconds": 1, "methods": {"assert": {"accepted": 9223372036854775807, "lost": -1,
            "latency": {"microseconds": [1, 1099511627776, 9223372036854775807, 1, 5, -5, 7, 2, 9]}}}}
            """
        var result = try LoadResult(Array(text.utf8), name: "a file")
        result.add(result)
        #expect(result.tally[.assert].accepted == 0 && result.tally[.assert].lost == 0)
        #expect(result.tally[.assert].latency.count == 4)
        #expect(result.tally[.assert].latency.milliseconds(50) == 0.007)
    }

    @Test("A used token that was accepted makes a result bad, and so does no answer at all")
    func bad() {
        var result = result([1, 2, 3])
        #expect(result.isGood)
        result.tally[.consume].replaysAccepted = 1
        #expect(!result.isGood)
        #expect(LoadText.report(result).contains("1 ACCEPTED"))
        #expect(!self.result([]).isGood)
    }

    @Test("Of many kinds of problems, 64 are told apart")
    func problems() {
        var tally = LoadTally()
        for number in 0..<1000 {
            tally.count(.init(method: .proxy, status: 500, words: Array("\(number)".utf8)))
        }
        #expect(tally.problems.count == 65)
        #expect(tally.problems.values.reduce(0, +) == 1000)
    }

    @Test(
        "Numbers are written with so many digits",
        arguments: [
            (0.0, 2, "0.00"), (1.005, 1, "1.0"), (12.06, 1, "12.1"), (3.049, 2, "3.05"), (7.5, 0, "8"), (-1, 1, "-"),
        ])
    func fixed(_ value: Double, _ digits: Int, _ text: String) {
        #expect(LoadText.fixed(value, digits) == text)
    }
}

@Suite("What a load has prepared")
struct LoadStockTests {
    private let later = NIODeadline.uptimeNanoseconds(1000)

    private func stock(replays: Double = 0) -> LoadStock {
        var stock = LoadStock(challenge: ByteBuffer(string: "challenge"), replays: replays)
        for device in 0..<2 {
            var entry = LoadStock.Device(
                verification: ByteBuffer(string: "v\(device)"), question: ByteBuffer(string: "q\(device)"))
            for number in 0..<2 {
                entry.assertions.append(.init(request: ByteBuffer(string: "\(device).\(number)"), expires: later))
            }
            stock.devices.append(entry)
            stock.limitedUse.append(ByteBuffer(string: "l\(device)"))
        }
        return stock
    }

    @Test("A device's assertions are sent one at a time, in the order of their counters")
    func assertions() throws {
        var stock = stock()
        let now = NIODeadline.uptimeNanoseconds(1)
        let picks = (0..<3).map { _ in stock.next(.assert, at: now) }
        let first = try #require(picks[0])
        let second = try #require(picks[1])
        #expect(Set([first, second].map { String(buffer: $0.request) }) == ["0.0", "1.0"])
        #expect(picks[2] == nil)
        stock.ended(first, method: .assert, isAccepted: false)
        let next = stock.next(.assert, at: now)
        let third = try #require(next)
        #expect(third.device == first.device && String(buffer: third.request).hasSuffix(".1"))
    }

    @Test("What is too old is not sent, and is counted")
    func expired() {
        var stock = stock()
        let pick = stock.next(.assert, at: .uptimeNanoseconds(1000))
        #expect(pick == nil)
        #expect(stock.expired == 4)
        #expect(stock.left(.assert) == 0 && stock.left(.consume) == 2 && stock.left(.verify) == nil)
    }

    @Test("A replay presents a token whose first use was accepted")
    func replays() throws {
        var stock = stock(replays: 0.5)
        let now = NIODeadline.uptimeNanoseconds(1)
        var pick = stock.next(.consume, at: now)
        let first = try #require(pick)
        #expect(!first.isReplay)
        stock.ended(first, method: .consume, isAccepted: true)
        pick = stock.next(.consume, at: now)
        let second = try #require(pick)
        #expect(second.isReplay && second.request == first.request)
        pick = stock.next(.consume, at: now)
        #expect(pick?.isReplay == false)
    }
}
