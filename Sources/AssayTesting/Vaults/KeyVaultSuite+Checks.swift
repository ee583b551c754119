internal import AssayCore
internal import AssayKit

extension KeyVaultSuite {
    /// Text that no message may have.
    private static let secret = "a-private-key-that-nobody-may-see"

    /// A document with all bytes, which tells the number that it was made of.
    private static func document(_ number: Int, size: Int = 600) -> [UInt8] {
        let head = Array("\(number) \(secret) ".utf8)
        let all = Array(UInt8.min...UInt8.max)
        let rest = max(0, size - head.count)
        return head + all.prefix(rest)
            + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: max(0, rest - all.count))
    }

    /// Makes the first document.
    private func begin(_ run: Run, _ document: [UInt8]) async throws -> KeyRevision {
        guard let revision = try await run.subject.vault.replace(document, expecting: nil) else {
            throw KeyVaultError("an empty vault took no document")
        }
        return revision
    }

    @Sendable func empty(_ run: Run) async throws {
        let vault = run.subject.vault
        run.expect(try await vault.read() == nil, "an empty vault has a document")
        run.expect(try await vault.revision() == nil, "an empty vault has a revision")
        let invented = KeyRevision("0")
        run.expect(
            try await vault.replace(Self.document(1), expecting: invented) == nil, "a change of nothing succeeded")
        run.expect(try await vault.read() == nil, "a change that was refused left a document")
    }

    @Sendable func documents(_ run: Run) async throws {
        let vault = run.subject.vault
        var revision: KeyRevision?
        for (number, size) in [1, 2, 100, 4096, 65_537, 1 << 20, 3].enumerated() {
            let document = Array(Self.document(number, size: size).prefix(size))
            revision = try await vault.replace(document, expecting: revision)
            guard let revision else { return run.expect(false, "a document of \(size) bytes was not taken") }
            let read = try await vault.read()
            run.expect(read?.bytes == document, "a document of \(size) bytes came back as another one")
            run.expect(read?.revision == revision, "the revision that was read is not the one that was returned")
            run.expect(try await vault.revision() == revision, "`revision()` is not the one that was returned")
        }
    }

    @Sendable func revisions(_ run: Run) async throws {
        let vault = run.subject.vault
        var seen: Set<KeyRevision> = []
        var revision: KeyRevision?
        for number in 0..<40 {
            // Each second one is equal to the one before the last.
            revision = try await vault.replace(Self.document(number % 2), expecting: revision)
            guard let revision else { return run.expect(false, "a change with the present revision was refused") }
            run.expect(seen.insert(revision).inserted, "a revision came back")
        }
    }

    @Sendable func expected(_ run: Run) async throws {
        let vault = run.subject.vault
        let first = try await begin(run, Self.document(1))
        run.expect(
            try await vault.replace(Self.document(2), expecting: nil) == nil, "a second first document was taken")
        guard let second = try await vault.replace(Self.document(3), expecting: first) else {
            return run.expect(false, "a change with the present revision was refused")
        }
        run.expect(try await vault.replace(Self.document(4), expecting: first) == nil, "an old revision was accepted")
        let read = try await vault.read()
        run.expect(
            read == KeyDocument(bytes: Self.document(3), revision: second),
            "a change that was refused changed something")
    }

    @Sendable func races(_ run: Run) async throws {
        let other = try await run.subject.reopen()
        var revision: KeyRevision?
        for round in 0..<12 {
            let (vaults, expected) = ([run.subject.vault, other], revision)
            let won = try await withThrowingTaskGroup(of: KeyRevision?.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        try await vaults[number % 2].replace(Self.document(round * 10 + number), expecting: expected)
                    }
                }
                return try await group.reduce(into: [KeyRevision]()) { won, next in if let next { won.append(next) } }
            }
            run.expect(won.count == 1, "of 10 changes at once \(won.count) succeeded")
            revision = try await run.subject.vault.revision()
            run.expect(won.contains { $0 == revision }, "the vault has another revision than the change that succeeded")
        }
        await other.close()
    }

    @Sendable func wholeness(_ run: Run) async throws {
        let other = try await run.subject.reopen()
        let vault = run.subject.vault
        let first = try await begin(run, Self.document(0, size: 20_000))
        let writer = Task {
            var revision: KeyRevision? = first
            for number in 1..<60 {
                revision = try await vault.replace(Self.document(number, size: 20_000 + number), expecting: revision)
            }
        }
        var bytes: [KeyRevision: [UInt8]] = [:]
        for _ in 0..<200 {
            guard let read = try await other.read() else {
                run.expect(false, "a reader found no document while another one was written")
                continue
            }
            let number = Int(String(decoding: read.bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) ?? -1
            run.expect(
                read.bytes == Self.document(number, size: 20_000 + number), "a reader got parts of two documents")
            run.expect(
                bytes[read.revision].map { $0 == read.bytes } ?? true, "one revision has two documents")
            bytes[read.revision] = read.bytes
        }
        try await writer.value
        await other.close()
    }

    @Sendable func reopening(_ run: Run) async throws {
        let revision = try await begin(run, Self.document(1))
        let other = try await run.subject.reopen()
        run.expect(
            try await other.read() == KeyDocument(bytes: Self.document(1), revision: revision),
            "a vault that was opened again has another document, or another revision")
        let next = try await other.replace(Self.document(2), expecting: revision)
        run.expect(next != nil, "a vault that was opened again refuses the present revision")
        run.expect(try await run.subject.vault.revision() == next, "a change by another server is not seen")
        await other.close()
    }

    @Sendable func damage(_ run: Run) async throws {
        guard let damages = run.subject.damages else {
            return run.overlook("the suite was not told how the document is damaged (`damages`)")
        }
        _ = try await begin(run, Self.document(1))
        try await damages()
        let read = try await thrown { try await run.subject.vault.read() }
        run.expect(read == nil, "a damaged document was read")
    }

    @Sendable func failing(_ run: Run) async throws {
        guard let fails = run.subject.fails else {
            return run.overlook("the suite was not told how the place of the document fails (`fails`)")
        }
        let vault = run.subject.vault
        let first = try await begin(run, Self.document(1))
        try await fails(true)
        run.expect(try await thrown { try await vault.read() } == nil, "`read()` works while the place fails")
        run.expect(
            try await thrown { try await vault.replace(Self.document(2), expecting: first) } == nil,
            "`replace` works while the place fails")
        try await fails(false)
        run.expect(
            try await vault.read() == KeyDocument(bytes: Self.document(1), revision: first),
            "the document is another one after its place failed")
        run.expect(
            try await vault.replace(Self.document(3), expecting: first) != nil, "no change is possible afterwards")
    }

    @Sendable func closing(_ run: Run) async throws {
        let vault = run.subject.vault
        let first = try await begin(run, Self.document(1))
        await vault.close()
        run.expect(try await thrown { try await vault.read() } == nil, "`read()` works after the close")
        run.expect(try await thrown { try await vault.revision() } == nil, "`revision()` works after the close")
        run.expect(
            try await thrown { try await vault.replace(Self.document(2), expecting: first) } == nil,
            "`replace` works after the close")
    }

    @Sendable func secrecy(_ run: Run) async throws {
        let vault = run.subject.vault
        var texts: [String] = []
        func tell(_ error: any Error) { texts += ["\(error)", String(reflecting: error)] }
        let first = try await begin(run, Self.document(1))
        if let read = try await vault.read() { texts += ["\(read)", String(reflecting: read)] }
        // What is larger than any document.
        do { _ = try await vault.replace(Self.document(2, size: 8 << 20), expecting: first) } catch { tell(error) }
        if let damages = run.subject.damages {
            try await damages()
            do { _ = try await vault.read() } catch { tell(error) }
        }
        await vault.close()
        do { _ = try await vault.replace(Self.document(3), expecting: first) } catch { tell(error) }
        for text in texts + run.log.lines {
            run.expect(!text.contains(Self.secret), "a part of a document in: \(text.prefix(60))")
        }
    }

    /// The value of a call; nil when it throws, as it should.
    private func thrown<Value>(_ call: () async throws -> Value) async throws -> Value? {
        do {
            return try await call()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return nil
        }
    }
}
