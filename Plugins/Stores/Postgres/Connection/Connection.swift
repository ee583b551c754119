internal import AssayCore
internal import CLibPQ

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The connection is of no use any more.
struct ConnectionLost: Error {
    /// In words, without secrets.
    let reason: String
    /// Whether the server was silent for too long.
    var isTimeout = false
}

/// One connection to a server, in libpq's pipeline mode.
///
/// For one thread at a time, which it blocks.
final class Connection {
    private let handle: OpaquePointer
    private let settings: ConnectionSettings
    private var prepared: Set<ExactText> = []
    /// What the server told when the connection was made.
    var history: ServerHistory?
    private let notices = UnsafeMutablePointer<assay_pq_notices>.allocate(capacity: 1)
    /// The number of the last segment; another one on each connection.
    private var lastSegment = Int64.random(in: 0...1 << 62)

    /// Returns the number of its segment, so that no answer is taken for that to another question.
    private static let echo = Statement("echo", [Statement.int8], "SELECT $1")

    /// Connects to the first host that accepts it.
    ///
    /// - `timeout`: for each host, in seconds; at least 2, as libpq has it.
    init(_ settings: ConnectionSettings, timeout: Int64) throws(PostgresStoreError) {
        let made = try settings.withKeywords(connectTimeout: max(timeout, 2)) { keywords, values in
            PQconnectdbParams(keywords, values, 0)
        }
        notices.initialize(to: assay_pq_notices())
        guard let made else { throw PostgresStoreError(.failed, "postgres: no memory for a connection") }
        handle = made
        self.settings = settings
        guard PQstatus(made) == CONNECTION_OK else {
            throw ConnectFailure.error(settings.redacted(String(cString: PQerrorMessage(made))), settings)
        }
        assay_pq_count_notices(made, notices)
        guard PQsetnonblocking(made, 1) == 0, PQenterPipelineMode(made) == 1 else {
            throw PostgresStoreError(.failed, "\(settings.place): no pipeline mode: \(lastMessage)")
        }
    }

    deinit {
        PQfinish(handle)
        notices.deallocate()
    }

    private var lastMessage: String { settings.redacted(String(cString: PQerrorMessage(handle))) }

    /// The server's version, such as 150004.
    var serverVersion: CInt { PQserverVersion(handle) }

    /// Whether an idle connection is still open, as far as the system knows.
    var isOpen: Bool {
        // What the server says unasked comes before the end of the connection, if it ends it.
        for _ in 0..<8 {
            var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 0) > 0 else { return PQstatus(handle) == CONNECTION_OK }
            guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, PQstatus(handle) == CONNECTION_OK,
                notices.pointee.unasked == 0
            else { return false }
        }
        return false
    }

    /// Sends segments in one pipeline, each a transaction of its own, and calls a body with the answer of each.
    ///
    /// Each segment ends with a step that returns its number: where answers come twice, or are lost on the way, the connection counts
    /// as lost before any of them is taken for that to another question.
    ///
    /// - `deadline`: when the connection counts as lost.
    /// - `waiting`: called before each wait; says when to call it again at the latest.
    /// - `answered`: called once for each segment, in order: with what its steps returned once that is committed, or with
    ///   the error for which all of it was rolled back.
    func exchange(
        _ segments: [[Step]], until deadline: ContinuousClock.Instant,
        waiting: () -> ContinuousClock.Instant? = { nil },
        answered: (Int, Result<[Table], ServerError>) -> Void
    ) throws(ConnectionLost) {
        let added = try prepare(segments)
        let first = lastSegment &+ 1
        for segment in segments {
            lastSegment &+= 1
            for step in segment { try send(step) }
            try send(Step(Self.echo, [.integer(lastSegment)]))
            try check(PQpipelineSync(handle))
        }
        var refused: [ExactText: ServerError] = [:]
        notices.pointee.warnings = 0
        var reader = PipelineReader(added.map { _ in 1 } + segments.map { $0.count + 1 })
        while !reader.isDone {
            let isFlushed = try flush()
            while !reader.isDone, PQisBusy(handle) == 0 {
                guard let answer = try reader.take(PQgetResult(handle)) else { continue }
                try checkStatus()
                try checkNotices()
                if answer.segment >= added.count {
                    let segment = answer.segment - added.count
                    let result = try Self.checked(answer.result, first &+ Int64(segment))
                    answered(segment, Self.explained(result, segments[segment], refused))
                } else {
                    switch answer.result {
                    case .success: prepared.insert(added[answer.segment])
                    case .failure(let error): refused[added[answer.segment]] = error
                    }
                }
            }
            try checkStatus()
            guard !reader.isDone else { break }
            let end = min(waiting() ?? deadline, deadline)
            try wait(writing: !isFlushed, until: end, deadline)
        }
    }

    /// What the steps of a segment returned, without its number.
    ///
    /// - Throws: when the answer is that to another segment.
    private static func checked(
        _ result: Result<[Table], ServerError>, _ number: Int64
    ) throws(ConnectionLost) -> Result<[Table], ServerError> {
        guard case .success(var tables) = result else { return result }
        guard let echo = tables.popLast(), (try? echo.single().integer(0)) == number else {
            throw PipelineReader.unexpected
        }
        return .success(tables)
    }

    /// The reason why a statement was not prepared, instead of the error that it is not.
    private static func explained(
        _ result: Result<[Table], ServerError>, _ steps: [Step], _ refused: [ExactText: ServerError]
    ) -> Result<[Table], ServerError> {
        guard case .failure(let error) = result, error.isOf(class: "26000") else { return result }
        return .failure(steps.lazy.compactMap { refused[$0.statement.name] }.first ?? error)
    }

    /// One step in a segment of its own, for work outside of operations.
    func run(_ step: Step, until deadline: ContinuousClock.Instant) throws -> Table {
        guard let table = try run([step], until: deadline).first else { throw PipelineReader.unexpected }
        return table
    }

    /// One segment, for work outside of operations.
    @discardableResult
    func run(_ steps: [Step], until deadline: ContinuousClock.Instant) throws -> [Table] {
        var result: Result<[Table], ServerError>?
        try exchange([steps], until: deadline) { _, answer in result = answer }
        guard let result else { throw PipelineReader.unexpected }
        return try result.get()
    }

    /// Asks the server to prepare what is not prepared yet, each in a segment of its own.
    private func prepare(_ segments: [[Step]]) throws(ConnectionLost) -> [ExactText] {
        var added: [ExactText] = []
        for statement in segments.joined().map(\.statement) + [Self.echo] {
            guard !prepared.contains(statement.name), !added.contains(statement.name) else { continue }
            try check(
                PQsendPrepare(
                    handle, statement.name.string, statement.sql, CInt(statement.types.count), statement.types))
            try check(PQpipelineSync(handle))
            added.append(statement.name)
        }
        return added
    }

    private func send(_ step: Step) throws(ConnectionLost) {
        let encoded = step.parameters.map(\.encoded)
        // One buffer; each value is followed by a NUL, so that empty ones have an address and text has an end.
        var buffer: [UInt8] = []
        buffer.reserveCapacity(encoded.reduce(0) { $0 + ($1?.count ?? 0) + 1 })
        var offsets: [Int] = []
        for value in encoded {
            offsets.append(buffer.count)
            buffer += value ?? []
            buffer.append(0)
        }
        let lengths = encoded.map { CInt(clamping: $0?.count ?? 0) }
        let sent = buffer.withUnsafeBytes { bytes in
            let values = zip(encoded, offsets).map { value, offset in
                value == nil ? nil : bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(
                handle, step.statement.name.string, CInt(values.count), values, lengths,
                step.parameters.map(\.format), 1)
        }
        try check(sent)
    }

    private func check(_ result: CInt) throws(ConnectionLost) {
        guard result == 1 else { throw ConnectionLost(reason: lastMessage) }
    }

    /// A server that is told to end its wait for a standby says so by a warning, and that the change was committed; it may
    /// be lost with the server.
    private func checkNotices() throws(ConnectionLost) {
        guard notices.pointee.warnings == 0 else {
            throw ConnectionLost(reason: "the server warns: it may not have waited for its standby")
        }
        guard notices.pointee.unasked == 0 else { throw PipelineReader.unexpected }
    }

    private func checkStatus() throws(ConnectionLost) {
        guard PQstatus(handle) == CONNECTION_OK else { throw ConnectionLost(reason: lastMessage) }
    }

    /// Returns whether everything was sent.
    private func flush() throws(ConnectionLost) -> Bool {
        let result = PQflush(handle)
        guard result >= 0 else {
            // The server may have said why it ended the connection.
            while PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, let rest = PQgetResult(handle) { PQclear(rest) }
            throw ConnectionLost(reason: lastMessage)
        }
        return result == 0
    }

    private func wait(
        writing: Bool, until end: ContinuousClock.Instant, _ deadline: ContinuousClock.Instant
    ) throws(ConnectionLost) {
        let now = ContinuousClock.now
        guard now < deadline else { throw ConnectionLost(reason: "the server did not answer in time", isTimeout: true) }
        let milliseconds = max((end - now).wholeMilliseconds + 1, 1)
        var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN | (writing ? POLLOUT : 0)), revents: 0)
        let ready = poll(&entry, 1, CInt(clamping: milliseconds))
        guard ready >= 0 || errno == EINTR else { throw ConnectionLost(reason: String(cString: strerror(errno))) }
        if ready > 0, entry.revents & ~Int16(POLLOUT) != 0, PQconsumeInput(handle) != 1 {
            throw ConnectionLost(reason: lastMessage)
        }
    }
}
