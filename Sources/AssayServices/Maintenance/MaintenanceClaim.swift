internal import AssayCore

/// What the state store holds about the maintenance of one app or project: which server runs it, or when it is due.
struct MaintenanceClaim: Sendable, Equatable {
    enum State: String, Sendable, CaseIterable {
        /// A server runs it; the time is the end of its lease.
        case running
        /// Nobody runs it before the time.
        case due
    }

    let state: State
    /// The name of the server that wrote it.
    @Exact private(set) var server: String
    let until: Instant
    /// How many runs have failed one after the other, on whatever server.
    let failures: Int

    init(_ state: State, by server: String, until: Instant, failures: Int) {
        self.state = state
        self.until = until
        self.failures = failures
        self.server = server
    }

    /// Nil for a value that this program does not write.
    init?(_ value: [UInt8]) {
        guard value.count <= 1024, let json = try? JSON.parse(value), let word = json["state"]?.string,
            let state = State.allCases.first(where: { $0.rawValue.isExactly(word) }),
            let server = json["server"]?.string, let until = json["until"]?.integer,
            let failures = json["failures"]?.integer, (0...64).contains(failures)
        else { return nil }
        self.init(state, by: server, until: Instant(milliseconds: until), failures: Int(failures))
    }

    var encoded: [UInt8] {
        let json: JSON = [
            "state": .string(state.rawValue), "server": .string(server), "until": .integer(until.milliseconds),
            "failures": .integer(Int64(failures)),
        ]
        return json.encoded
    }
}
