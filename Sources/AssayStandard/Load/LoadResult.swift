#if Simulator
internal import AssayCore

/// The result of a run, or of several that ran at the same time, in a form that loses nothing when it is added up.
struct LoadResult: Sendable {
    static let format = "assay-load 1"
    /// The largest file that is read.
    static let sizeLimit = 64 << 20
    private static let limits = JSON.Limits(bytes: sizeLimit, depth: 8, values: 4_000_000)
    /// The largest number that is read.
    private static let numberLimit = 1 << 40

    var url: String
    var mix: String
    var pace: String
    /// How many processes made the load.
    var generators = 1
    /// The duration of the measured phase; the longest one of several.
    var seconds: Double
    /// Accepted and refused calls a second, in the order of the methods.
    var acceptedRates: [Double]
    var refusedRates: [Double]
    /// The generators' use of the processor, in percent of a core, altogether.
    var generatorPercent: Double
    var serverPercent: Double?
    var serverMemory: Int?
    var tally: LoadTally
    var notes: [String] = []

    /// Calls a second, accepted and refused, that all generators got answered.
    var answeredRate: Double { acceptedRates.reduce(0, +) + refusedRates.reduce(0, +) }

    var replaysAccepted: Int { tally.methods.reduce(0) { $0 + $1.replaysAccepted } }

    /// Whether the run says anything about the server, and nothing bad.
    var isGood: Bool {
        replaysAccepted == 0 && tally.methods.contains { $0.accepted + $0.refused > 0 }
    }

    init(_ outcome: LoadDriver.Outcome, url: String, mix: String, pace: String) {
        self.url = url
        self.mix = mix
        self.pace = pace
        seconds = outcome.seconds
        tally = outcome.tally
        let span = max(outcome.seconds, 1e-9)
        acceptedRates = tally.methods.map { Double($0.acceptedInTime) / span }
        refusedRates = tally.methods.map { Double($0.refusedInTime) / span }
        generatorPercent = outcome.generator.percent
        serverPercent = outcome.server?.percent
        serverMemory = outcome.server.map { Int(clamping: $0.memory) }
        if let reason = outcome.endedEarly { notes.append("the measured phase ended early, because \(reason)") }
    }

    /// Adds the result of another generator that ran at the same time.
    mutating func add(_ other: LoadResult) {
        generators += other.generators
        seconds = max(seconds, other.seconds)
        acceptedRates = zip(acceptedRates, other.acceptedRates).map { $0 + $1 }
        refusedRates = zip(refusedRates, other.refusedRates).map { $0 + $1 }
        generatorPercent += other.generatorPercent
        // Each saw the same server.
        if let percent = other.serverPercent { serverPercent = max(serverPercent ?? 0, percent) }
        if let memory = other.serverMemory { serverMemory = max(serverMemory ?? 0, memory) }
        tally.add(other.tally)
        for note in other.notes where !notes.contains(exactly: note) { notes.append(note) }
    }

    // MARK: - JSON

    var json: JSON {
        var members: [JSONMember] = [
            JSONMember("format", .string(Self.format)), JSONMember("url", .string(url)),
            JSONMember("mix", .string(mix)), JSONMember("pace", .string(pace)),
            JSONMember("generators", .integer(Int64(generators))), JSONMember("seconds", .number(seconds)),
            JSONMember("generatorPercent", .number(generatorPercent)),
        ]
        if let serverPercent { members.append(JSONMember("serverPercent", .number(serverPercent))) }
        if let serverMemory { members.append(JSONMember("serverMemory", .integer(Int64(serverMemory)))) }
        let methods = LoadMethod.allCases.filter { tally[$0].due > 0 || tally[$0].replaysAccepted > 0 }
        members.append(
            JSONMember("methods", .object(methods.map { JSONMember($0.rawValue, json(of: $0)) })))
        members.append(
            JSONMember(
                "problems",
                .array(
                    LoadText.sorted(tally.problems).map { problem, times in
                        [
                            "method": .string(problem.method.rawValue), "status": .integer(Int64(problem.status)),
                            "words": .string(String(decoding: problem.words.prefix(1024), as: UTF8.self)),
                            "times": .integer(Int64(times)),
                        ]
                    })))
        members.append(JSONMember("notes", .array(notes.map(JSON.string))))
        return .object(members)
    }

    private func json(of method: LoadMethod) -> JSON {
        let counts = tally[method]
        var members = LoadCounts.numbers.map { JSONMember($0.name, .integer(Int64(counts[keyPath: $0.path]))) }
        members.append(JSONMember("acceptedPerSecond", .number(acceptedRates[method.index])))
        members.append(JSONMember("refusedPerSecond", .number(refusedRates[method.index])))
        for (name, latencies) in [("latency", counts.latency), ("refusal", counts.refusal)] where latencies.count > 0 {
            var values = LoadText.percentiles.map { label, percentile in
                JSONMember(label, .number(latencies.milliseconds(percentile) ?? 0))
            }
            values.append(
                JSONMember(
                    "microseconds",
                    .array(latencies.pairs.flatMap { [JSON.integer(Int64($0.value)), .integer(Int64($0.count))] })))
            members.append(JSONMember(name, .object(values)))
        }
        return .object(members)
    }

    /// Reads the JSON of a run.
    init(_ bytes: [UInt8], name: String) throws(LoadFailure) {
        guard let json = try? JSON.parse(bytes, limits: Self.limits), let format = json["format"]?.string,
            format.isExactly(Self.format)
        else { throw LoadFailure("\(name) is no result of `load --json`") }
        url = json["url"]?.string ?? ""
        mix = json["mix"]?.string ?? ""
        pace = json["pace"]?.string ?? ""
        generators = Self.count(json["generators"]) ?? 1
        seconds = Self.number(json["seconds"]) ?? 0
        generatorPercent = Self.number(json["generatorPercent"]) ?? 0
        serverPercent = Self.number(json["serverPercent"])
        serverMemory = Self.count(json["serverMemory"])
        notes = json["notes"]?.array?.compactMap(\.string) ?? []
        tally = LoadTally()
        acceptedRates = LoadMethod.allCases.map { _ in 0 }
        refusedRates = acceptedRates
        for method in LoadMethod.allCases {
            guard let counts = json["methods"]?[method.rawValue] else { continue }
            for (name, path) in LoadCounts.numbers { tally[method][keyPath: path] = Self.count(counts[name]) ?? 0 }
            acceptedRates[method.index] = Self.number(counts["acceptedPerSecond"]) ?? 0
            refusedRates[method.index] = Self.number(counts["refusedPerSecond"]) ?? 0
            tally[method].latency = Self.latencies(counts["latency"])
            tally[method].refusal = Self.latencies(counts["refusal"])
        }
        for problem in json["problems"]?.array ?? [] {
            guard let name = problem["method"]?.string,
                let method = LoadMethod.allCases.first(where: { $0.rawValue.isExactly(name) }),
                let status = Self.count(problem["status"]), let times = Self.count(problem["times"])
            else { continue }
            tally.count(
                .init(method: method, status: status, words: Array((problem["words"]?.string ?? "").utf8)),
                times: times)
        }
    }

    private static func latencies(_ json: JSON?) -> LoadLatencies {
        var latencies = LoadLatencies()
        let numbers = json?["microseconds"]?.array ?? []
        for index in stride(from: 0, to: numbers.count - numbers.count % 2, by: 2) {
            guard let value = count(numbers[index]), let times = count(numbers[index + 1]) else { continue }
            latencies.record(UInt64(value), count: UInt64(times))
        }
        return latencies
    }

    private static func count(_ json: JSON?) -> Int? {
        json?.integer.flatMap { (0...Int64(numberLimit)).contains($0) ? Int($0) : nil }
    }

    private static func number(_ json: JSON?) -> Double? {
        switch json {
        case .number(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
}
#endif
