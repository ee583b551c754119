import AssayCore
import AssayKit
import AssayTesting
import Testing

/// That the suite finds what is wrong, and nothing else: each store here breaks one rule, and just those promises are
/// named for which the rule is needed.
@Suite struct StateStoreSuiteTests {
    static let broken: [(flaw: FlawedStore.Flaw, promises: [String])] = [
        (.none, []),
        (.insertInTwoSteps, ["insert-once", "insert-once-again"]),
        (.insertReplaces, ["commit", "commit-once", "expiry", "insert-once", "insert-once-again", "replacement"]),
        (.expiryIgnored, ["expiry", "insert-once-again", "reopening", "replacement"]),
        (.expiryLate, ["expiry", "insert-once-again", "reopening", "replacement"]),
        (.expiredStillInTheWay, ["expiry", "insert-once-again"]),
        (.expiredForgotten, ["clock-ahead", "clock-set-back"]),
        (.expiredForgottenByGet, ["clock-ahead", "clock-set-back"]),
        (.expiredForgottenByList, ["clock-ahead", "clock-set-back"]),
        (.putKeepsExpiry, ["replacement"]),
        (.counterGoesDown, ["counter", "counter-order"]),
        (.counterInTwoSteps, ["counter-order"]),
        (
            .counterTakesEqual,
            ["commit", "commit-refused", "counter", "counter-order", "counters-apart", "names", "reopening"]
        ),
        (.counterSigned, ["counter"]),
        (.counterIsEntry, ["counters-apart", "names", "spaces"]),
        (.commitInSteps, ["commit", "commit-once", "commit-readers", "commit-refused"]),
        (.commitNamesLast, ["commit"]),
        (.listUnsorted, ["list", "reopening"]),
        (.listIncludesStart, ["list"]),
        (.listIgnoresLimit, ["list"]),
        (.listOfAllSpaces, ["commit-readers", "list", "reopening"]),
        (.namesEndAtNUL, ["list", "names", "reopening", "spaces"]),
        (.namesAsText, ["list", "names", "reopening", "spaces"]),
        (.spaceJoinedToName, ["commit-readers", "expiry", "list", "reopening", "spaces"]),
        (.valuesCutOff, ["values"]),
        (.emptyValueAbsent, ["values"]),
        (.torn, ["whole-values"]),
        (.forgetful, ["clock-set-back", "reopening"]),
        (
            .failing,
            [
                "clock-ahead", "clock-set-back", "commit", "commit-once", "commit-readers", "commit-refused",
                "counters-apart",
                "expiry", "insert-once",
                "insert-once-again", "names", "reopening",
                "replacement",
                "spaces", "values",
            ]
        ),
    ]

    @Test(arguments: broken)
    func namesThePromisesThatAreBroken(flaw: FlawedStore.Flaw, promises: [String]) async {
        let suite = StateStoreSuite(
            makeStore: { FlawedStore(flaw, clock: $0) },
            reopen: { store, clock in flaw == .forgetful ? FlawedStore(flaw, clock: clock) : store })
        let broken = Set(await suite.run().map(\.promise))
        #expect(broken == Set(promises), "found \(broken.sorted())")
    }

    @Test func aStoreThatCannotBeMadeIsAFailureOfEveryPromise() async {
        struct Unmade: Error {}
        let failures = await StateStoreSuite(makeStore: { _ in throw Unmade() }).run()
        #expect(failures.count == 20)
        #expect(failures.allSatisfy { $0.detail.contains("Unmade") })
    }
}

/// Stores whose commits are made in steps.
@Suite struct SteppingStoreTests {
    private func broken(_ flaw: SteppingStore.Flaw, spansServers: Bool) async -> Set<String> {
        let suite = StateStoreSuite(
            makeStore: { SteppingStore(flaw, clock: $0) }, reopen: { store, _ in store }, spansServers: spansServers)
        return Set(await suite.run().map(\.promise))
    }

    @Test func aStoreThatSpansServersMayLeaveWhatARefusedCommitMade() async {
        #expect(await broken(.none, spansServers: true) == [])
        #expect(await broken(.none, spansServers: false).contains("commit-refused"))
    }

    @Test func aStoreThatTakesBackWhatItMadeIsFound() async {
        for spansServers in [false, true] {
            let found = await broken(.undoes, spansServers: spansServers)
            #expect(found.contains("commit-refused"), "\(spansServers): \(found.sorted())")
        }
    }

    @Test func aStoreWhoseReadersFindAPartOfACommitIsFound() async {
        #expect(await broken(.seenInParts, spansServers: false) == ["commit-readers"])
    }

    @Test(arguments: [
        SteppingStore.Flaw.makesTheFirstOnly, .forgetsARefusal, .goesOn, .backwards, .namesTheNext,
    ])
    func aStoreThatSpansServersKeepsTheOrder(flaw: SteppingStore.Flaw) async {
        #expect(await broken(flaw, spansServers: true).contains("commit-in-order"))
    }

    @Test func aRestartThatLosesWhatNeedNotBeListedIsFound() async {
        let suite = StateStoreSuite(
            makeStore: { SteppingStore(.none, clock: $0) },
            reopen: { store, _ in
                try await (store as? SteppingStore)?.loseUnlisted()
                return store
            }, spansServers: true)
        #expect(Set(await suite.run().map(\.promise)) == ["reopening"])
    }

    @Test func findingsArePlainAndFew() async {
        let failures =
            await StateStoreSuite { FlawedStore(.spaceJoinedToName, clock: $0) }.run()
            + StateStoreSuite { FlawedStore(.counterIsEntry, clock: $0) }.run()
        #expect(!failures.isEmpty)
        for failure in failures {
            for part in ["StateKey(", "StateEntry(", "Exact", "Optional("] {
                #expect(!failure.detail.contains(part), "\(failure)")
            }
        }
        let names = failures.filter { $0.promise.isExactly("names") }.map(\.detail)
        #expect(names.count == 11)
        #expect(names.last?.hasPrefix("and ") == true)
        #expect(names.first?.contains(#""" of "suite""#) == true, "\(names.first ?? "")")
    }
}
