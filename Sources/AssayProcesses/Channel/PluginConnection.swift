internal import AssayCore
internal import CSpawn
internal import NIOCore
package import SwiftProtobuf
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A connection to the Unix socket of a process, over which it is called.
///
/// A call is sent by the thread that makes it, and a thread of the connection's own reads the answers: one change of threads less than an
/// event loop needs, each of which costs as much as all the rest. The only call of a process that answers fast is spared another one: its
/// thread waits for the answer itself, for a moment.
package final class PluginConnection: Sendable {
    /// The most bytes of a reply of any method.
    static let replyLimit = 1 << 20
    /// The most bytes that wait to be sent to a process that does not read.
    private static let outputLimit = 16 << 20

    fileprivate struct State {
        var streams: ClientStreams
        /// What the socket did not take yet.
        var output: [UInt8] = []
        var calls: [UInt64: OpenCall] = [:]
        var lastCall: UInt64 = 0
        var isClosed = false
        var reader = Reader.thread
        /// How many callers do not read themselves, because the last one that did got no answer in its moment, and how many
        /// are left of them.
        var pause = (length: 0, left: 0)
    }

    /// Who reads the socket.
    fileprivate enum Reader {
        /// The thread of the connection; also while it is being started.
        case thread
        /// A caller.
        case caller
        /// Nobody: the thread waits for the bell.
        case nobody
    }

    /// How long a caller reads itself, at most.
    private static let moment = Duration.microseconds(200)
    private static let longestPause = 1024

    fileprivate struct OpenCall {
        let result: FirstResult<[UInt8]>
        let deadline: ContinuousClock.Instant
        /// Wakes a thread that waits for the result.
        let wake: (@Sendable () -> Void)?
    }

    /// A call that was begun.
    struct Call: Sendable {
        fileprivate let id: UInt64
        let result: FirstResult<[UInt8]>
    }

    private let service: String
    private let socket: CInt
    /// Wakes the thread that reads.
    private let bell: (reading: CInt, writing: CInt)
    private let state: Mutex<State>
    private let end = FirstResult<String>()
    private let onClose = Mutex<[@Sendable () -> Void]>([])

    private init(_ service: String, _ socket: CInt, _ bell: (reading: CInt, writing: CInt)) {
        self.service = service
        self.socket = socket
        self.bell = bell
        state = Mutex(State(streams: ClientStreams(replyLimit: Self.replyLimit), output: ClientStreams.preface))
    }

    deinit {
        Self.closeDescriptor(socket)
        Self.closeDescriptor(bell.reading)
        Self.closeDescriptor(bell.writing)
    }

    /// Connects to a socket.
    ///
    /// - Parameter service: the full name of the service that is called.
    /// - Throws: `PluginProcess.Unavailable` with what the system says.
    package static func connect(
        to path: String, service: String = "assay.plugin.v1.Plugin"
    ) throws -> PluginConnection {
        let socket = assay_connect(path)
        guard socket >= 0 else { throw PluginProcess.Unavailable(description: String(cString: strerror(errno))) }
        // In bounds: the two ends of a pipe.
        var ends: [CInt] = [-1, -1]
        guard assay_pipe(&ends) == 0 else {
            let reason = String(cString: strerror(errno))
            closeDescriptor(socket)
            throw PluginProcess.Unavailable(description: reason)
        }
        let connection = PluginConnection(service, socket, (ends[0], ends[1]))
        // The thread keeps the connection until it is closed.
        guard WorkerThreads(count: 1, waiting: 1).start({ connection.run() }) else {
            throw PluginProcess.Unavailable(description: "the system starts no more threads")
        }
        return connection
    }

    private static func closeDescriptor(_ descriptor: CInt) { _ = assay_close(descriptor) }

    /// Calls `body` once when the connection is closed, by whomever.
    func whenClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosed = onClose.withLock { waiting in
            guard end.present == nil else { return true }
            waiting.append(body)
            return false
        }
        if isClosed { body() }
    }

    /// Closes the connection; calls that wait end.
    package func close() {
        finish(perform { $0.streams.close("the connection to the process was closed") })
        ring()
    }

    // MARK: - Calls

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - other: the full name of a service that is not the connection's own.
    ///   - wake: is called when the result is there.
    func start(
        _ method: String, of other: String? = nil, _ request: some Message, timeLimit: Duration,
        wake: (@Sendable () -> Void)? = nil
    ) throws -> Call {
        try begin(method, of: other, request, timeLimit: timeLimit, wake: wake).call
    }

    /// - Parameter mayRead: whether the caller can read the answer itself.
    /// - Returns: the call, and whether the caller has to read.
    private func begin(
        _ method: String, of other: String?, _ request: some Message, timeLimit: Duration, mayRead: Bool = false,
        wake: (@Sendable () -> Void)? = nil
    ) throws -> (call: Call, reads: Bool) {
        let message = try GRPCMessage.bytes(of: request)
        let head = ClientStreams.head(path: "/\(other ?? service)/\(method)", timeLimit: timeLimit)
        let result = FirstResult<[UInt8]>()
        let deadline = ContinuousClock.now + timeLimit
        var id: UInt64 = 0
        var reads = false
        finish(
            perform { state in
                reads = mayRead && state.takesReading()
                state.lastCall += 1
                id = state.lastCall
                state.calls[id] = OpenCall(result: result, deadline: deadline, wake: wake)
                return state.streams.start(id, head: head, message: message)
            })
        return (Call(id: id, result: result), reads)
    }

    /// Calls a method, and waits for the reply without blocking a thread.
    ///
    /// - Throws: `GRPCFailure`; the call is reset when the task is cancelled.
    package func call<Reply: Message>(
        _ method: String, of other: String? = nil, _ request: some Message, as type: Reply.Type = Reply.self,
        timeLimit: Duration
    ) async throws -> Reply {
        let (call, reads) = try begin(method, of: other, request, timeLimit: timeLimit, mayRead: true)
        if reads {
            readForAMoment(call.result)
            if let reply = call.result.present { return try Self.decode(try reply.get()) }
        }
        let reply = try await withTaskCancellationHandler {
            try await call.result.value
        } onCancel: {
            finish(perform { $0.streams.cancel(call.id) })
        }
        return try Self.decode(reply)
    }

    /// Calls a method, and blocks the thread until the reply is there.
    ///
    /// Policies are made into instances without suspension points, and their plugins are asked meanwhile.
    func callBlocking<Reply: Message>(
        _ method: String, _ request: some Message, as type: Reply.Type = Reply.self, timeLimit: Duration
    ) throws -> Reply {
        let bell = Bell()
        let call = try start(method, request, timeLimit: timeLimit) { bell.ring() }
        bell.wait()
        guard let result = call.result.present else { throw GRPCFailure(.internalError, "the call has no result") }
        return try Self.decode(result.get())
    }

    private static func decode<Reply: Message>(_ bytes: [UInt8]) throws -> Reply {
        guard let payload = GRPCMessage.payload(of: ByteBuffer(bytes: bytes)),
            let reply = try? Reply(serializedBytes: Array(payload), options: limits)
        else { throw GRPCFailure(.internalError, "the process answered with a message of another form") }
        return reply
    }

    private static let limits: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = 16
        return options
    }()

    // MARK: - Input and output

    private struct Ended {
        var calls: [(call: OpenCall, result: Result<[UInt8], GRPCFailure>)] = []
        var closes: String?
        var needsBell = false
    }

    /// Does something to the streams, and sends what follows.
    private func perform(_ body: (inout State) -> ClientStreams.Actions) -> Ended {
        state.withLock { state in
            let actions = body(&state)
            var ended = Ended()
            for outcome in actions.ended {
                if let call = state.calls.removeValue(forKey: outcome.id) { ended.calls.append((call, outcome.result)) }
            }
            ended.closes = actions.closes
            guard !state.isClosed else { return ended }
            let isClosing = !actions.closes.isNil
            if isClosing { state.isClosed = true }
            let hadRest = !state.output.isEmpty
            state.output += actions.output
            if !hadRest || isClosing { send(&state) }
            // Also when nobody reads, and there is something to wait for.
            ended.needsBell =
                !state.output.isEmpty && !hadRest || !state.calls.isEmpty && state.reader == .nobody
            if state.output.count > Self.outputLimit, ended.closes.isNil {
                let last = state.streams.close("the process does not read what it is sent")
                state.isClosed = true
                ended.closes = last.closes
                for outcome in last.ended {
                    if let call = state.calls.removeValue(forKey: outcome.id) {
                        ended.calls.append((call, outcome.result))
                    }
                }
            }
            return ended
        }
    }

    /// Ends the calls that have ended, without any lock.
    private func finish(_ ended: Ended) {
        for (call, result) in ended.calls {
            call.result.settle(result.mapError { $0 as any Error })
            call.wake?()
        }
        if ended.needsBell { ring() }
        guard let reason = ended.closes else { return }
        assay_shut_down(socket)
        let waiting = onClose.withLock { waiting in
            end.settle(.success(reason))
            defer { waiting = [] }
            return waiting
        }
        for body in waiting { body() }
        ring()
    }

    private func send(_ state: inout State) {
        while !state.output.isEmpty {
            let count = state.output.withUnsafeBytes { assay_send(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            if count == state.output.count {
                state.output.removeAll(keepingCapacity: count < 1 << 16)
            } else {
                state.output.removeFirst(count)
            }
        }
    }

    private func ring() {
        var byte: UInt8 = 1
        _ = assay_write(bell.writing, &byte, 1)
    }

    /// Reads answers until the connection is closed.
    private func run() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while end.present == nil {
            let (wanted, isIdle) = state.withLock { $0.wanted() }
            var events = assay_poll(socket, bell.reading, wanted, isIdle ? 1000 : 50)
            if events & 2 != 0 { assay_drain(bell.reading) }
            if wanted & 1 == 0 {
                // Now and then, and at a hangup: what an idle process sends is read, too.
                let isFree = state.withLock { state in
                    guard state.reader == .nobody else { return false }
                    state.reader = .thread
                    return true
                }
                events = isFree ? events | 1 : events & ~1
            }
            if events & 4 != 0 {
                finish(
                    perform { state in
                        send(&state)
                        return ClientStreams.Actions()
                    })
            }
            if events & 1 != 0 {
                let count = buffer.withUnsafeMutableBytes { assay_receive(socket, $0.baseAddress, $0.count) }
                if count > 0 {
                    finish(perform { $0.streams.received(buffer.prefix(count)) })
                } else if count == 0 {
                    finish(perform { $0.streams.close("the process closed the connection") })
                }
            }
            expire()
        }
    }

    /// Reads until a result is there, or the moment is over.
    private func readForAMoment(_ result: FirstResult<[UInt8]>) {
        let limit = ContinuousClock.now + Self.moment
        while result.present == nil, end.present == nil {
            let timeLeft = limit - ContinuousClock.now
            guard timeLeft > .zero, assay_poll_briefly(socket, Int(timeLeft / .microseconds(1))) != 0 else { break }
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, filled in
                count = assay_receive(socket, buffer.baseAddress, buffer.count)
                filled = max(count, 0)
            }
            if count > 0 {
                finish(perform { $0.streams.received(bytes[...]) })
            } else if count == 0 {
                finish(perform { $0.streams.close("the process closed the connection") })
            }
        }
        let isAnswered = result.present != nil
        let needsReader = state.withLock { state in
            state.reader = .nobody
            state.pause.length = isAnswered ? 0 : min(state.pause.length * 2 + 1, Self.longestPause)
            state.pause.left = state.pause.length
            return !state.calls.isEmpty || !state.output.isEmpty
        }
        if needsReader { ring() }
    }

    /// Ends the calls whose time is over.
    private func expire() {
        let now = ContinuousClock.now
        let late = state.withLock { state in state.calls.filter { $0.value.deadline <= now }.map(\.key) }
        for id in late {
            let call = state.withLock { $0.calls.removeValue(forKey: id) }
            call?.result.settle(
                .failure(GRPCFailure(.deadlineExceeded, "the process did not answer in time")))
            call?.wake?()
            finish(perform { $0.streams.cancel(id) })
        }
    }
}

extension PluginConnection.State {
    /// Whether the caller of the only call is to read.
    fileprivate mutating func takesReading() -> Bool {
        guard reader == .nobody, calls.isEmpty, output.isEmpty, !isClosed else { return false }
        guard pause.left == 0 else {
            pause.left -= 1
            return false
        }
        reader = .caller
        return true
    }

    /// What the connection's thread waits for: 1 to read, 4 to write; and whether it waits for the bell alone.
    fileprivate mutating func wanted() -> (events: CInt, isIdle: Bool) {
        let isIdle = calls.isEmpty && output.isEmpty
        if reader == .caller { return (0, isIdle) }
        reader = isIdle ? .nobody : .thread
        return isIdle ? (0, true) : (output.isEmpty ? 1 : 5, false)
    }
}

/// Wakes one thread once.
private final class Bell: Sendable {
    private let ends: [CInt]

    init() {
        var ends: [CInt] = [-1, -1]
        _ = assay_pipe(&ends)
        self.ends = ends
    }

    deinit { for end in ends { _ = assay_close(end) } }

    func ring() {
        var byte: UInt8 = 1
        // In bounds: the two ends of a pipe.
        _ = assay_write(ends[1], &byte, 1)
    }

    func wait() {
        // In bounds: the two ends of a pipe.
        while assay_poll(-1, ends[0], 0, -1) & 2 == 0 {}
    }
}
