extension StateStoreSuite {
    /// A check, by the name of its promise.
    struct Promise: Sendable {
        let name: String
        /// What is promised, in words.
        let rule: String
        let check: @Sendable (StateStoreSuite) -> Check

        init(_ name: String, _ rule: String, _ check: @escaping @Sendable (StateStoreSuite) -> Check) {
            self.name = name
            self.rule = rule
            self.check = check
        }
    }

    /// All checks, in their order; their names are stable.
    static let promises = [
        Promise("insert-once", "of many concurrent inserts of one key exactly one is made, and its value is kept") {
            $0.insertOnce
        },
        Promise("expiry", "from its instant on an entry is absent for get, list and insert; without one it stays") {
            $0.expiry
        },
        Promise("expiry-exact", "the instant of an expiry is kept to the millisecond") { $0.expiryExact },
        Promise("insert-once-again", "of many concurrent inserts over an expired entry exactly one is made") {
            $0.insertOnceAgain
        },
        Promise(
            "clock-set-back", "what expired and was removed cannot be inserted once more when the clock is set back"
        ) { $0.clockSetBack },
        Promise(
            "clock-ahead", "a clock that is ahead for a moment removes nothing, and what is new is inserted afterwards"
        ) { $0.clockAhead },
        Promise("removal", "entries that have expired are removed some time later") { $0.removal },
        Promise("replacement", "put writes, replaces value and expiry, and deletes; insert does not replace") {
            $0.replacement
        },
        Promise("whole-values", "a reader sees the old value or the new one, never a mixture") { $0.wholeValues },
        Promise(
            "counter",
            "greater values are taken; equal and lower ones refused; the whole range of `UInt64`; no expiry"
        ) { $0.counter },
        Promise("counter-order", "concurrent advances look as if they had happened one after the other") {
            $0.counterOrder
        },
        Promise("counters-apart", "a counter and an entry of the same key know nothing of each other") {
            $0.countersApart
        },
        Promise(
            "commit", "several changes are made together or none is, and the first that cannot be made is named"
        ) { $0.commit },
        Promise("commit-positions", "each change of a commit is looked at, wherever it stands") {
            $0.commitPositions
        },
        Promise(
            "commit-once", "of concurrent commits with a common key exactly one is made, and nothing of the others"
        ) { $0.commitOnce },
        Promise(
            "commit-refused",
            "of concurrent commits of which some are refused at a later change, the refused ones change nothing"
        ) { $0.commitRefused },
        Promise("commit-readers", "no reader finds a part of a commit") { $0.commitReaders },
        Promise(
            "commit-in-order",
            "a store that spans servers makes changes in order, up to the first refused one, which it names"
        ) { $0.commitInOrder },
        Promise("list", "the order of the names' bytes, `after`, `limit`, the space's own live entries only") {
            $0.list
        },
        Promise("large-pages", "a page has as many entries as were asked for, up to 10 000, unless there are no more") {
            $0.largePages
        },
        Promise("capacity", "of many thousand entries and counters none is dropped; a store that is full refuses") {
            $0.capacity
        },
        Promise("names", "NUL, quotes, wildcards, 1024 bytes; equivalent Unicode spellings are different names") {
            $0.names
        },
        Promise("values", "empty, all byte values, 1 MiB; larger ones are refused or kept whole") { $0.values },
        Promise("spaces", "spaces are apart, whatever their names have in common") { $0.spaces },
        Promise("never-blocks", "a store with `neverBlocks` does not block the thread that calls it") {
            $0.neverBlocks
        },
        Promise(
            "closing", "operations in progress at the close end or throw, and every later one throws"
        ) { $0.closing },
        Promise("reopening", "entries, expiries, counters and deletions are there after reopening") {
            $0.reopening
        },
        Promise("durability", "what an operation wrote survives what the descriptor says, here the end of the process")
        {
            $0.durability
        },
        Promise("power-loss", "what an operation wrote survives the loss of power or of the machine, if claimed") {
            $0.powerLoss
        },
        Promise(
            "torn-files",
            "a file that a crash left without its end has whole operations only, and none that ended is lost"
        ) { $0.tornFiles },
        Promise("sharing", "two stores of one location are one store, if the descriptor says that it may be shared") {
            $0.sharing
        },
    ]
}
