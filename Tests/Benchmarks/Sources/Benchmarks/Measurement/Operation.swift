/// Something that can be repeated; throws when it does not work.
struct Operation: Sendable {
    /// Repeats it that many times.
    let repeated: @Sendable (Int) async throws -> Void

    /// An operation that needs no waiting: its loop has no suspension in it.
    init(_ body: @escaping @Sendable () throws -> Void) {
        repeated = { count in
            for _ in 0..<count { try body() }
        }
    }

    /// An operation that may wait.
    init(waiting body: @escaping @Sendable () async throws -> Void) {
        repeated = { count in
            for _ in 0..<count { try await body() }
        }
    }

    /// An operation that repeats itself.
    init(repeating repeated: @escaping @Sendable (Int) throws -> Void) {
        self.repeated = { count in try repeated(count) }
    }
}
