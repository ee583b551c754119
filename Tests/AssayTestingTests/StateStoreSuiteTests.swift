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
        (
            .insertReplaces,
            [
                "commit", "commit-once", "commit-positions", "expiry", "expiry-exact", "insert-once",
                "insert-once-again",
                "replacement",
            ]
        ),
        (
            .expiryIgnored,
            ["expiry", "expiry-exact", "insert-once-again", "removal", "reopening", "replacement"]
        ),
        (.expiryLate, ["expiry", "expiry-exact", "insert-once-again", "reopening", "replacement"]),
        (.expiredStillInTheWay, ["expiry", "expiry-exact", "insert-once-again"]),
        (.expiredForgotten, ["clock-ahead", "clock-set-back", "removal"]),
        (.expiredForgottenByGet, ["clock-ahead", "clock-set-back", "removal"]),
        (.expiredForgottenByList, ["clock-ahead", "clock-set-back", "removal"]),
        (.putKeepsExpiry, ["replacement"]),
        (.counterGoesDown, ["counter", "counter-order"]),
        (.counterInTwoSteps, ["counter-order"]),
        (
            .counterTakesEqual,
            [
                "capacity", "commit", "commit-positions", "commit-refused", "counter", "counter-order",
                "counters-apart",
                "names", "reopening",
            ]
        ),
        (.counterSigned, ["counter"]),
        (.counterIsEntry, ["counters-apart", "names", "spaces"]),
        (
            .commitInSteps,
            ["clock-set-back", "commit", "commit-once", "commit-positions", "commit-readers", "commit-refused"]
        ),
        (.commitNamesLast, ["clock-set-back", "commit", "commit-positions"]),
        (.listUnsorted, ["large-pages", "list", "reopening"]),
        (.listIncludesStart, ["large-pages", "list"]),
        (.listIgnoresLimit, ["large-pages", "list"]),
        (.listOfAllSpaces, ["commit-readers", "expiry-exact", "large-pages", "list", "reopening"]),
        (.namesEndAtNUL, ["list", "names", "reopening", "spaces"]),
        (.namesAsText, ["list", "names", "reopening", "spaces"]),
        (
            .spaceJoinedToName,
            ["commit-readers", "expiry", "large-pages", "list", "removal", "reopening", "spaces"]
        ),
        (.valuesCutOff, ["capacity", "large-pages", "values"]),
        (.emptyValueAbsent, ["values"]),
        (.torn, ["whole-values"]),
        (.forgetful, ["clock-set-back", "reopening"]),
        (
            .failing,
            [
                "clock-ahead", "clock-set-back", "commit", "commit-once", "commit-positions", "commit-readers",
                "commit-refused", "counters-apart", "expiry", "expiry-exact", "insert-once", "insert-once-again",
                "names",
                "removal", "reopening", "replacement", "spaces", "values",
            ]
        ),
    ]

    @Test(arguments: broken)
    func namesThePromisesThatAreBroken(flaw: FlawedStore.Flaw, promises: [String]) async {
        let suite = StateStoreSuite(
            makeStore: { FlawedStore(flaw, clock: $0) },
            reopen: { store, clock in flaw == .forgetful ? FlawedStore(flaw, clock: clock) : store }
        ).adapted(manyEntries: 200)
        let broken = Set(await suite.run().map(\.promise))
        #expect(broken == Set(promises), "found \(broken.sorted())")
    }

    @Test(
        "A store with one of these flaws breaks the promise that it is a flaw of",
        arguments: [
            (FlawedStore.Flaw.expiryToSeconds, "expiry-exact"), (.expiryToHundredths, "expiry-exact"),
            (.neverRemoves, "removal"), (.removesOneSpace, "removal"), (.commitLooksAtFirst, "commit-positions"),
            (.commitLooksAtFirstOfEachKind, "commit-positions"), (.commitRemembersForFirst, "clock-set-back"),
            (.commitTakesPairs, "commit-positions"), (.pagesCapped, "large-pages"),
            (.pagesCappedInBytes, "large-pages"), (.dropsOldest, "capacity"), (.dropsCounters, "capacity"),
            (.dropsByBytes, "capacity"),
        ])
    func findsTheFlaw(flaw: FlawedStore.Flaw, promise: String) async {
        let suite = StateStoreSuite { FlawedStore(flaw, clock: $0) }.adapted(manyEntries: 2000)
        let broken = Set(await suite.run().map(\.promise))
        #expect(broken.contains(promise), "found \(broken.sorted())")
    }

    @Test func aStoreThatCannotBeMadeIsAFailureOfEveryPromise() async {
        struct Unmade: Error {}
        let failures = await StateStoreSuite(makeStore: { _ in throw Unmade() }).run()
        #expect(failures.count == 30)
        #expect(failures.allSatisfy { $0.detail.contains("Unmade") })
    }
}

/// Stores whose commits are made in steps.
@Suite struct SteppingStoreTests {
    private func broken(
        _ flaw: SteppingStore.Flaw, spansServers: Bool, concurrency: Int = 100
    ) async -> Set<String> {
        let suite = StateStoreSuite(
            makeStore: { SteppingStore(flaw, clock: $0) }, reopen: { store, _ in store }, concurrency: concurrency,
            spansServers: spansServers
        ).adapted(manyEntries: 200)
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
        // It does not know what its entries remember of others, either. Its commits wait for each other in vain attempts.
        let found = await broken(.seenInParts, spansServers: false, concurrency: 10)
        #expect(found == ["clock-set-back", "commit-readers"])
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
            }, spansServers: true
        ).adapted(manyEntries: 200)
        #expect(Set(await suite.run().map(\.promise)) == ["reopening"])
    }

    @Test func findingsArePlainAndFew() async {
        let failures =
            await StateStoreSuite { FlawedStore(.spaceJoinedToName, clock: $0) }.adapted(manyEntries: 200).run()
            + StateStoreSuite { FlawedStore(.counterIsEntry, clock: $0) }.adapted(manyEntries: 200).run()
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
