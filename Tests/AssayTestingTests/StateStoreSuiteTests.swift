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
        (.expiredForgotten, ["clock-set-back"]), (.expiredForgottenByGet, ["clock-set-back"]),
        (.expiredForgottenByList, ["clock-set-back"]),
        (.putKeepsExpiry, ["replacement"]),
        (.counterGoesDown, ["counter", "counter-order"]),
        (.counterInTwoSteps, ["counter-order"]),
        (.counterTakesEqual, ["commit", "counter", "counter-order", "counters-apart", "names", "reopening"]),
        (.counterSigned, ["counter"]),
        (.counterIsEntry, ["counters-apart", "names", "spaces"]),
        (.commitInSteps, ["commit", "commit-once"]),
        (.commitNamesLast, ["commit"]),
        (.listUnsorted, ["list", "reopening"]),
        (.listIncludesStart, ["list"]),
        (.listIgnoresLimit, ["list"]),
        (.listOfAllSpaces, ["list", "reopening"]),
        (.namesEndAtNUL, ["list", "names", "reopening", "spaces"]),
        (.namesAsText, ["list", "names", "reopening", "spaces"]),
        (.spaceJoinedToName, ["expiry", "list", "reopening", "spaces"]),
        (.valuesCutOff, ["values"]),
        (.emptyValueAbsent, ["values"]),
        (.torn, ["whole-values"]),
        (.forgetful, ["clock-set-back", "reopening"]),
        (
            .failing,
            [
                "clock-set-back", "commit", "commit-once", "counters-apart", "expiry", "insert-once",
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
        #expect(failures.count == 17)
        #expect(failures.allSatisfy { $0.detail.contains("Unmade") })
    }
}
