internal import AssayCore
internal import NIOCore
internal import NIOHPACK

/// The client's side of a connection over HTTP/2 with unary calls of gRPC, without any I/O.
///
/// What a process sends is hostile: every length is bounded, every call ends once, and anything that breaks the protocol ends the
/// connection. Headers are decoded by NIOHPACK.
struct ClientStreams {
    typealias Outcome = (id: UInt64, result: Result<[UInt8], GRPCFailure>)

    /// What follows from an event.
    struct Actions {
        /// Is sent, in this order.
        var output: [UInt8] = []
        /// The calls that have ended.
        var ended: [Outcome] = []
        /// Why the connection is closed; nil while it is not.
        var closes: String?
    }

    private struct Stream {
        let call: UInt64
        /// What is not sent yet.
        var rest: ArraySlice<UInt8>
        /// How much of it may be sent.
        var window: Int
        var reply: [UInt8] = []
        var hasHead = false
    }

    private struct Broken: Error {
        let reason: String
    }

    /// The window of each stream, which has room for a whole reply, and half of the connection's.
    private static let streamWindow = 2 << 20
    private static let connectionWindow = 16 << 20
    private static let headerLimit = 16_384
    /// Calls that wait for their turn, when the process serves few at a time.
    private static let waitingLimit = 1024
    private static let uselessFrameLimit = 10_000

    private let replyLimit: Int
    private var reader = Frame.Reader()
    private var decoder: HPACKDecoder
    private var streams: [UInt32: Stream] = [:]
    /// The streams of calls.
    private var streamOfCall: [UInt64: UInt32] = [:]
    private var waiting: [(call: UInt64, head: [UInt8], message: ArraySlice<UInt8>)] = []
    private var nextStream: UInt32 = 1
    private var window = 65_535
    private var peerWindow = 65_535
    private var peerStreams = Int.max
    /// Received bytes that the connection's window was not raised by yet.
    private var consumed = 0
    /// A header block that is not complete.
    private var block: (stream: UInt32, ends: Bool, bytes: [UInt8])?
    /// Frames since the last call ended that brought none nearer to its end.
    private var uselessFrames = 0
    private var isGoing = false
    /// Why the connection is closed; nil while it is not.
    private var ending: String?
    private var isClosed: Bool { !ending.isNil }

    /// - Parameter replyLimit: the most bytes of a message.
    init(replyLimit: Int) {
        self.replyLimit = replyLimit
        decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        decoder.maxHeaderListSize = Self.headerLimit
    }

    var isIdle: Bool { streams.isEmpty && waiting.isEmpty }

    // MARK: - Calls

    /// What is sent first.
    static var preface: [UInt8] {
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        var settings: [UInt8] = []
        for (key, value) in [(2, 0), (4, UInt32(streamWindow)), (6, UInt32(headerLimit))] as [(UInt8, UInt32)] {
            settings += [0, key]
            Frame.append(value, to: &settings)
        }
        Frame.write(.settings, stream: 0, settings, to: &bytes)
        var update: [UInt8] = []
        Frame.append(UInt32(connectionWindow - 65_535), to: &update)
        Frame.write(.windowUpdate, stream: 0, update, to: &bytes)
        return bytes
    }

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - head: its header block.
    ///   - message: the message with its prefix.
    mutating func start(_ call: UInt64, head: [UInt8], message: [UInt8]) -> Actions {
        var actions = Actions()
        if isClosed || isGoing || nextStream > 0x7FFF_0000 {
            actions.ended = [(call, .failure(GRPCFailure(.unavailable, ending ?? "the process takes no more calls")))]
        } else if waiting.count >= Self.waitingLimit {
            actions.ended = [(call, .failure(GRPCFailure(.resourceExhausted, "too many calls wait for the process")))]
        } else {
            waiting.append((call, head, message[...]))
            launch(&actions)
        }
        return actions
    }

    /// Ends a call that nobody waits for any more.
    mutating func cancel(_ call: UInt64) -> Actions {
        var actions = Actions()
        let failure = GRPCFailure(.cancelled, "the call was cancelled")
        if let index = waiting.firstIndex(where: { $0.call == call }) {
            waiting.remove(at: index)
            actions.ended.append((call, .failure(failure)))
        } else if let stream = streamOfCall[call] {
            reset(stream, failure, &actions)
            launch(&actions)
        }
        return actions
    }

    private mutating func launch(_ actions: inout Actions) {
        while !waiting.isEmpty, streams.count < peerStreams, !isGoing, !isClosed {
            let (call, head, message) = waiting.removeFirst()
            let stream = nextStream
            nextStream += 2
            streams[stream] = Stream(call: call, rest: message, window: peerWindow)
            streamOfCall[call] = stream
            Frame.write(.headers, Frame.Flags.endHeaders, stream: stream, head, to: &actions.output)
            send(stream, &actions)
        }
    }

    /// Sends what the windows allow of a request.
    private mutating func send(_ stream: UInt32, _ actions: inout Actions) {
        guard var state = streams[stream], !state.rest.isEmpty else { return }
        while !state.rest.isEmpty {
            let count = min(state.rest.count, state.window, window, Frame.payloadLimit)
            guard count > 0 else { break }
            let isLast = count == state.rest.count
            Frame.write(
                .data, isLast ? Frame.Flags.endStream : 0, stream: stream, state.rest.prefix(count),
                to: &actions.output)
            state.rest = state.rest.dropFirst(count)
            state.window -= count
            window -= count
        }
        streams[stream] = state
    }

    // MARK: - What the process sends

    mutating func received(_ bytes: some Sequence<UInt8>) -> Actions {
        var actions = Actions()
        guard !isClosed else { return actions }
        reader.append(bytes)
        do {
            while let frame = try reader.next() { try read(frame, &actions) }
        } catch let error as Broken {
            close("the process broke the protocol: \(error.reason)", &actions)
        } catch {
            close("the process broke the protocol: a frame is too large", &actions)
        }
        return actions
    }

    /// Ends everything.
    mutating func close(_ reason: String) -> Actions {
        var actions = Actions()
        close(reason, &actions)
        return actions
    }

    private mutating func close(_ reason: String, _ actions: inout Actions) {
        guard !isClosed else { return }
        ending = reason
        actions.closes = reason
        let failure = Result<[UInt8], GRPCFailure>.failure(GRPCFailure(.unavailable, reason))
        actions.ended += streams.values.map { ($0.call, failure) } + waiting.map { ($0.call, failure) }
        streams = [:]
        streamOfCall = [:]
        waiting = []
    }

    private mutating func read(_ frame: Frame, _ actions: inout Actions) throws {
        if block != nil, frame.type != Frame.Kind.continuation.rawValue {
            throw Broken(reason: "a header block is interrupted")
        }
        let isOfUse = frame.type == Frame.Kind.data.rawValue && !frame.payload.isEmpty && streams[frame.stream] != nil
        if !isOfUse { uselessFrames += 1 }
        guard uselessFrames <= Self.uselessFrameLimit else { throw Broken(reason: "too many frames that say nothing") }
        switch Frame.Kind(rawValue: frame.type) {
        case .data: try data(frame, &actions)
        case .headers:
            guard frame.stream % 2 == 1, frame.stream < nextStream, let content = frame.content else {
                throw Broken(reason: "headers of a stream that was not opened")
            }
            block = (frame.stream, frame.has(Frame.Flags.endStream), Array(content))
            if frame.has(Frame.Flags.endHeaders) { try headers(&actions) }
        case .continuation:
            guard block?.stream == frame.stream else { throw Broken(reason: "a continuation of nothing") }
            block?.bytes += frame.payload
            guard block?.bytes.count ?? 0 <= 4 * Self.headerLimit else { throw Broken(reason: "headers are too large") }
            if frame.has(Frame.Flags.endHeaders) { try headers(&actions) }
        case .reset:
            guard frame.payload.count == 4 else { throw Broken(reason: "a reset of another length") }
            let code = Frame.number(frame.payload)
            end(
                frame.stream, .failure(GRPCFailure(.unavailable, "the process ended the call with code \(code)")),
                &actions)
            launch(&actions)
        case .settings: try settings(frame, &actions)
        case .ping:
            guard frame.payload.count == 8 else { throw Broken(reason: "a ping of another length") }
            guard !frame.has(Frame.Flags.ack) else { return }
            Frame.write(.ping, Frame.Flags.ack, stream: 0, frame.payload, to: &actions.output)
        case .goAway:
            guard frame.payload.count >= 8 else { throw Broken(reason: "a farewell of another length") }
            goAway(last: Frame.number(frame.payload) & 0x7FFF_FFFF, &actions)
        case .windowUpdate: try raise(frame, &actions)
        case .pushPromise: throw Broken(reason: "a push")
        case .priority, nil: break
        }
    }

    private mutating func data(_ frame: Frame, _ actions: inout Actions) throws {
        guard frame.stream % 2 == 1, frame.stream < nextStream, let content = frame.content else {
            throw Broken(reason: "data of a stream that was not opened")
        }
        consumed += frame.payload.count
        if consumed > Self.connectionWindow / 2 {
            var update: [UInt8] = []
            Frame.append(UInt32(consumed), to: &update)
            Frame.write(.windowUpdate, stream: 0, update, to: &actions.output)
            consumed = 0
        }
        // A call that was cancelled.
        guard let state = streams[frame.stream] else { return }
        guard state.hasHead else {
            return reset(
                frame.stream, GRPCFailure(.internalError, "the process did not answer as gRPC"), &actions)
        }
        guard state.reply.count + content.count <= replyLimit + GRPCMessage.prefixLength else {
            return reset(
                frame.stream,
                GRPCFailure(.resourceExhausted, "the process answered with more than \(replyLimit) bytes"), &actions)
        }
        streams[frame.stream]?.reply += content
        if frame.has(Frame.Flags.endStream) { unfinished(frame.stream, &actions) }
    }

    private mutating func headers(_ actions: inout Actions) throws {
        guard let (stream, ends, bytes) = block else { return }
        block = nil
        var buffer = ByteBuffer(bytes: bytes)
        // Also those of calls that were cancelled: all blocks share one table.
        guard let headers = try? decoder.decodeHeaders(from: &buffer) else {
            throw Broken(reason: "headers that cannot be read")
        }
        guard let state = streams[stream] else { return }
        func first(_ name: String) -> String? { headers.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        if !state.hasHead {
            guard let status = first(":status"), status.utf8.elementsEqual("200".utf8),
                first("content-type")?.utf8.starts(with: "application/grpc".utf8) == true
            else {
                return reset(stream, GRPCFailure(.internalError, "the process did not answer as gRPC"), &actions)
            }
            streams[stream]?.hasHead = true
        }
        guard let status = first("grpc-status") else {
            if ends { unfinished(stream, &actions) }
            return
        }
        if status.utf8.elementsEqual("0".utf8) {
            end(stream, .success(state.reply), &actions)
        } else {
            let text = first("grpc-message").map { GRPCText.decode($0) } ?? ""
            let code = Int(status).flatMap { GRPCFailure.Code(rawValue: $0) } ?? .unknown
            end(stream, .failure(GRPCFailure(code, text)), &actions)
        }
        launch(&actions)
    }

    private mutating func settings(_ frame: Frame, _ actions: inout Actions) throws {
        guard frame.stream == 0, frame.payload.count % 6 == 0 else {
            throw Broken(reason: "settings of another length")
        }
        guard !frame.has(Frame.Flags.ack) else { return }
        var rest = frame.payload
        while rest.count >= 6 {
            let key = UInt16(rest[rest.startIndex]) << 8 | UInt16(rest[rest.startIndex + 1])
            let value = Frame.number(rest.dropFirst(2))
            rest = rest.dropFirst(6)
            switch key {
            case 3: peerStreams = Int(value)
            case 4:
                guard value <= 0x7FFF_FFFF else { throw Broken(reason: "a window that is too large") }
                let growth = Int(value) - peerWindow
                peerWindow = Int(value)
                for stream in streams.keys { streams[stream]?.window += growth }
            // Our own header blocks use no table, and our frames are the smallest that every peer must take.
            default: break
            }
        }
        Frame.write(.settings, Frame.Flags.ack, stream: 0, [], to: &actions.output)
        for stream in streams.keys.sorted() { send(stream, &actions) }
        launch(&actions)
    }

    private mutating func raise(_ frame: Frame, _ actions: inout Actions) throws {
        let growth = Int(Frame.number(frame.payload) & 0x7FFF_FFFF)
        guard frame.payload.count == 4, growth > 0 else { throw Broken(reason: "a window that is raised by nothing") }
        if frame.stream == 0 {
            window += growth
            guard window <= 0x7FFF_FFFF else { throw Broken(reason: "a window that is too large") }
            for stream in streams.keys.sorted() { send(stream, &actions) }
        } else if let state = streams[frame.stream] {
            guard state.window + growth <= 0x7FFF_FFFF else { throw Broken(reason: "a window that is too large") }
            streams[frame.stream]?.window += growth
            send(frame.stream, &actions)
        }
    }

    /// The process takes no more calls, and answers those up to a stream.
    private mutating func goAway(last: UInt32, _ actions: inout Actions) {
        isGoing = true
        let failure = Result<[UInt8], GRPCFailure>.failure(
            GRPCFailure(.unavailable, "the process takes no more calls"))
        for stream in streams.keys where stream > last { end(stream, failure, &actions) }
        actions.ended += waiting.map { ($0.call, failure) }
        waiting = []
        if streams.isEmpty { close("the process takes no more calls", &actions) }
    }

    // MARK: - Ends

    private mutating func unfinished(_ stream: UInt32, _ actions: inout Actions) {
        end(
            stream, .failure(GRPCFailure(.internalError, "the process ended its answer without a status")), &actions)
        launch(&actions)
    }

    private mutating func reset(_ stream: UInt32, _ failure: GRPCFailure, _ actions: inout Actions) {
        end(stream, .failure(failure), &actions, isReset: true)
    }

    private mutating func end(
        _ stream: UInt32, _ result: Result<[UInt8], GRPCFailure>, _ actions: inout Actions, isReset: Bool = false
    ) {
        guard let state = streams.removeValue(forKey: stream) else { return }
        streamOfCall[state.call] = nil
        uselessFrames = 0
        // Also when the answer was there before the whole request was sent.
        if isReset || !state.rest.isEmpty {
            var code: [UInt8] = []
            Frame.append(8, to: &code)
            Frame.write(.reset, stream: stream, code, to: &actions.output)
        }
        actions.ended.append((state.call, result))
        if isGoing, streams.isEmpty { close("the process takes no more calls", &actions) }
    }

    // MARK: - Our headers

    /// The header block of a call, without any use of the dynamic table (RFC 7541, section 6.2.2).
    static func head(path: String, timeLimit: Duration) -> [UInt8] {
        // `:method: POST` and `:scheme: http` of the static table, then names of it with values of our own.
        var bytes: [UInt8] = [0x83, 0x86]
        literal(name: 4, path, to: &bytes)
        literal(name: 1, "localhost", to: &bytes)
        literal(name: 31, "application/grpc", to: &bytes)
        literal("te", "trailers", to: &bytes)
        let milliseconds = min(max(1, timeLimit / .milliseconds(1)), 99_999_999)
        literal("grpc-timeout", "\(Int(milliseconds))m", to: &bytes)
        return bytes
    }

    private static func literal(name: Int, _ value: String, to bytes: inout [UInt8]) {
        integer(name, prefix: 4, to: &bytes)
        text(value, to: &bytes)
    }

    private static func literal(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes.append(0)
        text(name, to: &bytes)
        text(value, to: &bytes)
    }

    private static func text(_ text: String, to bytes: inout [UInt8]) {
        integer(text.utf8.count, prefix: 7, to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private static func integer(_ number: Int, prefix bits: Int, to bytes: inout [UInt8]) {
        let most = 1 << bits - 1
        guard number >= most else { return bytes.append(UInt8(number)) }
        bytes.append(UInt8(most))
        var rest = number - most
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        bytes.append(UInt8(rest))
    }
}
