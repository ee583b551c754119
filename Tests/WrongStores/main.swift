import AssayCommand
import AssayCore
import AssayKit
import AssayTesting

// A program with stores that end their process, or never answer: for tests of `conformance`.

await AssayProgram(
    name: "wrong-stores", version: "1.0.0", plugins: [],
    suites: {
        UnrulyStore.Way.allCases.map { way in
            let suite = StateStoreSuite(makeStore: { UnrulyStore(way, clock: $0) })
            return PromiseSuite(way.rawValue, version: "2.0.0", suite.adapted(manyEntries: 100, silence: .seconds(5)))
        }
    }
).main()
