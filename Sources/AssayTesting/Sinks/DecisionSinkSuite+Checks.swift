internal import AssayCore
internal import AssayKit
internal import Synchronization

extension DecisionSinkSuite {
    /// Texts that end a record or begin another one where a sink writes them as they are.
    static let hostileTexts = [
        "a\nb", "\r\n", "\"}\n{\"decision\":\"forged\"}", "nul\u{0}byte", "tab\tand\u{B}more", "back\\slash",
        "\u{2028}",
        "\u{E9}", "e\u{301}", "\u{1F600}", "%0a", "$(id)", "'; DROP TABLE decisions; --", "\u{1B}[2J", "</script>", " ",
        "",
    ]

    @Sendable func order(_ run: Run) async throws {
        var sent: [Written] = []
        for size in [1, 2, 3, 7, 64, 255, DecisionEntry.batchLimit, 1] {
            let entries = (0..<size).map { index in Self.entry(sent.count + index) }
            try await run.subject.sink.record(entries.map(\.entry))
            sent += entries.map(\.written)
        }
        let written = try await arrived(run, atLeast: sent.count)
        run.expect(
            written == sent, "\(sent.count) entries were sent, and \(written.count) arrived, or in another order")
    }

    @Sendable func load(_ run: Run) async throws {
        let count = 20
        for batch in 0..<count {
            let numbers = (0..<DecisionEntry.batchLimit).map { batch * DecisionEntry.batchLimit + $0 }
            try await run.subject.sink.record(numbers.map { Self.entry($0).entry })
        }
        let written = try await arrived(run, atLeast: count * DecisionEntry.batchLimit)
        run.expect(
            Set(written).count == count * DecisionEntry.batchLimit,
            "of \(count * DecisionEntry.batchLimit) entries \(Set(written).count) arrived")
    }

    @Sendable func hostileText(_ run: Run) async throws {
        let entries = Self.hostileTexts.enumerated().map { Self.entry($0, detail: $1) }
        try await run.subject.sink.record(entries.map(\.entry))
        let written = try await arrived(run, atLeast: entries.count)
        run.expect(written.count == entries.count, "\(entries.count) entries were sent, and \(written.count) arrived")
        for (entry, written) in zip(entries, written) {
            run.expect(entry.written == written, "a text arrived changed, or in another record")
        }
    }

    @Sendable func longText(_ run: Run) async throws {
        let long = Self.entry(0, detail: String(repeating: "long ", count: 20_000))
        do {
            try await run.subject.sink.record([long.entry])
        } catch {
            run.expect(error.isFinal, "refused an entry of 100 KB for now only: the kernel would send it for ever")
            return
        }
        run.expect(try await arrived(run, atLeast: 1) == [long.written], "an entry of 100 KB arrived changed")
    }

    @Sendable func failing(_ run: Run) async throws {
        guard let fails = run.subject.fails else {
            return run.overlook("the suite was not told how the place of the records fails (`fails`)")
        }
        try await run.subject.sink.record([Self.entry(0).entry])
        try await fails(true)
        for number in 1...5 {
            do {
                try await run.subject.sink.record([Self.entry(number).entry])
                run.expect(false, "took an entry that it could not write")
            } catch {
                run.expect(!error.isFinal, "gave up an entry because the place failed for a while")
            }
        }
        try await fails(false)
        let sent = (1...5).map { Self.entry($0) }
        try await run.subject.sink.record(sent.map(\.entry))
        let written = try await arrived(run, atLeast: 6)
        run.expect(
            Set(written) == Set([Self.entry(0).written] + sent.map(\.written)),
            "not all entries arrived after the failure: \(written.count)")
    }

    @Sendable func cancellation(_ run: Run) async throws {
        guard let isSlow = run.subject.isSlow else {
            return run.overlook("the suite was not told how the place of the records becomes slow (`isSlow`)")
        }
        try await isSlow(true)
        let ended = Mutex(false)
        let call = Task {
            try? await run.subject.sink.record([Self.entry(0).entry])
            ended.withLock { $0 = true }
        }
        try await Task.sleep(for: .milliseconds(200))
        call.cancel()
        // The kernel's own limit is half a minute: an end within that is soon enough, on a slow machine too.
        for _ in 0..<3000 where !ended.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
        run.expect(ended.withLock { $0 }, "a cancelled call did not end within half a minute")
        try await isSlow(false)
    }

    @Sendable func closing(_ run: Run) async throws {
        let entries = (0..<10).map { Self.entry($0) }
        try await run.subject.sink.record(entries.map(\.entry))
        await run.subject.sink.close()
        let written = try await arrived(run, atLeast: entries.count)
        run.expect(written == entries.map(\.written), "what was taken is not there after the close")
        do {
            try await run.subject.sink.record([Self.entry(11).entry])
            run.expect(false, "took an entry after the close")
        } catch {
            // As it must.
        }
    }

    @Sendable func secrecy(_ run: Run) async throws {
        let marks = ["Decision-Detail-Mark", "decision-resource-mark"]
        let entry = Self.entry(0, detail: marks[0], resource: marks[1]).entry
        var texts: [String] = []
        try await run.subject.sink.record([entry])
        if let fails = run.subject.fails {
            try await fails(true)
            do {
                try await run.subject.sink.record([entry])
            } catch {
                texts.append("\(error)")
            }
            try await fails(false)
        }
        await run.subject.sink.close()
        do {
            try await run.subject.sink.record([entry])
        } catch {
            texts.append("\(error)")
        }
        for text in texts + run.log.lines {
            run.expect(
                !(marks + run.subject.secrets).contains { text.contains($0) },
                "an error or a log line has text of an entry or a secret")
        }
    }

    /// What arrived; waits up to half a minute for places that show it later.
    private func arrived(_ run: Run, atLeast count: Int) async throws -> [Written] {
        for _ in 0..<600 {
            let written = try await run.subject.written()
            if written.count >= count { return written }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await run.subject.written()
    }

    /// An entry as the kernel makes them, and as it must arrive.
    private static func entry(
        _ number: Int, detail: String? = nil, resource: String = "projects/1/apps/a"
    ) -> (entry: DecisionEntry, written: Written) {
        let decision = DecisionID(text: "suite-\(number)")
        let detail = detail ?? "detail \(number)"
        let record = DecisionRecord(
            decision: decision, time: Instant(seconds: 1_800_000_000 + Int64(number)), duration: .milliseconds(3),
            method: "exchangeSuite", resource: resource, provider: "suite", outcome: .answered, detail: detail,
            facts: [], peer: "192.0.2.1")
        let line: JSON = [
            "time": .string(record.time.description), "decision": .string(decision.text), "method": "exchangeSuite",
            "resource": .string(resource), "outcome": "answered", "detail": .string(detail),
        ]
        return (
            DecisionEntry(.decision(record), line: line.encoded), Written(decision: decision.text, detail: detail)
        )
    }
}
