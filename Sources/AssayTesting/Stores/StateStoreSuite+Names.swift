internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    /// Names that a careless store confuses, truncates or reads as syntax.
    ///
    /// In the order of their bytes.
    static let oddNames = [
        "", "\0", "\0\0", "\0a", "\n", " ", "\"", "%", "%25", "'", "';DROP TABLE entry;--", "*", "/", "//", "10", "2",
        "?", "A", "NULL", "\\", "_", "a", "a\0", "a\0b", "a/b", "a:b", "aa", "b", "e\u{301}", "\u{7f}", "\u{e9}",
        "\u{ff}", "\u{800}", "\u{feff}", "\u{ffff}", "\u{1f600}", "\u{10ffff}",
    ]

    @Sendable func list(_ run: Run) async throws {
        let store = run.store
        // Written in another order than that of the names.
        for name in Self.oddNames.shuffled() {
            try await store.put(StateKey("suite", name), value: Array(name.utf8), expires: nil)
        }
        try await store.put(StateKey("suit", "x"), value: [], expires: nil)
        try await store.put(StateKey("suite2", "x"), value: [], expires: nil)
        let bytes = Self.oddNames.map { Array($0.utf8) }
        let all = try await store.list("suite", after: nil, limit: 1000)
        run.expect(all.map { Array($0.name.utf8) } == bytes, "not all names of the space in the order of their bytes")
        run.expect(all.allSatisfy { $0.value == Array($0.name.utf8) }, "a value listed under another name")
        for limit in [1, 3, bytes.count] {
            var paged: [[UInt8]] = []
            var last: String?
            while paged.count <= bytes.count {
                let page = try await store.list("suite", after: last, limit: limit)
                run.expect(page.count <= limit, "a page of \(page.count) where the limit is \(limit)")
                guard let end = page.last else { break }
                paged += page.map { Array($0.name.utf8) }
                last = end.name
            }
            run.expect(paged == bytes, "pages of \(limit) do not add up to the whole list")
        }
        try await run.expect(store.list("suite", after: "2x", limit: 1).map(\.name), ["?"], "after a name not there")
        try await run.expect(store.list("suite", after: nil, limit: 0).count, 0, "entries with a limit of 0")
        try await run.expect(store.list("empty", after: nil, limit: 9).count, 0, "entries of an empty space")
        let expires = run.clock.now + .milliseconds(1500)
        try await store.put(StateKey("timed", "t"), value: [1], expires: expires)
        try await run.expect(
            store.list("timed", after: nil, limit: 9), [StateEntry(name: "t", value: [1], expires: expires)],
            "the entry listed with its expiry")
    }

    @Sendable func names(_ run: Run) async throws {
        let store = run.store
        let longest = String(repeating: "n", count: 1023)
        let names = Self.oddNames + [longest + "1", longest + "2"]
        for (index, name) in names.enumerated() {
            let key = StateKey("suite", name)
            try await run.expect(
                store.insert(key, value: Self.bytes(of: index), expires: nil), true, "insert \(Self.words(key))")
            try await run.expect(store.advance(key, to: 9), true, "advance \(Self.words(key))")
        }
        for (index, name) in names.enumerated() {
            let key = StateKey("suite", name)
            try await run.expect(store.get(key), Self.bytes(of: index), "get \(Self.words(key))")
            try await run.expect(store.advance(key, to: 9), false, "advance \(Self.words(key)) again")
        }
        // Longer ones may be refused, but must not be confused with each other.
        let long = String(repeating: "n", count: 70_000)
        if (try? await store.insert(StateKey("suite", long + "1"), value: [1], expires: nil)) != nil {
            try await run.expect(store.get(StateKey("suite", long + "2")), nil, "get of another very long name")
            try await run.expect(store.get(StateKey("suite", long + "1")), [1], "get of a very long name")
        }
    }

    @Sendable func values(_ run: Run) async throws {
        let key = StateKey("suite", "value")
        let every = (0...255).map { UInt8($0) }
        let samples: [[UInt8]] = [
            [], [0], [0, 0, 1], every, Array("1e3".utf8), [0xC3, 0x28, 0xFF], Array(repeating: 0xA5, count: 1 << 20),
        ]
        for (index, value) in samples.enumerated() {
            let fresh = StateKey("suite", "value-\(index)")
            let about = "a value of \(value.count) bytes"
            try await run.expect(run.store.insert(fresh, value: value, expires: nil), true, "insert of \(about)")
            let inserted = try await run.store.get(fresh)
            run.expect(inserted == value, "\(about) is not returned as inserted")
            try await run.store.put(key, value: value, expires: nil)
            let replaced = try await run.store.get(key)
            run.expect(replaced == value, "\(about) is not returned as put")
        }
        let large = [UInt8](repeating: 7, count: 1 << 21)
        let before = try await run.store.get(key)
        let isTaken = (try? await run.store.put(key, value: large, expires: nil)) != nil
        let after = try await run.store.get(key)
        run.expect(after == (isTaken ? large : before), "a value of 2 MiB is neither kept whole nor refused")
    }

    @Sendable func spaces(_ run: Run) async throws {
        let store = run.store
        // Some of these are equal after they are joined, with or without a separator.
        let keys = [
            StateKey("a", "b"), StateKey("ab", ""), StateKey("", "ab"), StateKey("a", "b:c"), StateKey("a:b", "c"),
            StateKey("a/b", "c"), StateKey("a", "b/c"), StateKey("a", "b\0c"), StateKey("a\0b", "c"),
            StateKey("A", "b"), StateKey("e\u{301}", "x"), StateKey("\u{e9}", "x"),
        ]
        for (index, key) in keys.enumerated() {
            let value = Self.bytes(of: index)
            try await run.expect(store.insert(key, value: value, expires: nil), true, "insert \(Self.words(key))")
            try await run.expect(store.advance(key, to: 5), true, "advance \(Self.words(key))")
        }
        for (index, key) in keys.enumerated() {
            try await run.expect(store.get(key), Self.bytes(of: index), "get \(Self.words(key))")
        }
        try await store.put(keys[0], value: nil, expires: nil)
        for (index, key) in keys.enumerated().dropFirst() {
            try await run.expect(
                store.get(key), Self.bytes(of: index), "get \(Self.words(key)) after a deletion elsewhere")
        }
    }

    static func bytes(of number: Int) -> [UInt8] {
        Array("value \(number)".utf8)
    }
}
