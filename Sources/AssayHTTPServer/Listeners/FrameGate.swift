package import NIOCore

/// Filters the input of the HTTP/2 parser on every listener: it lowers SETTINGS_HEADER_TABLE_SIZE to 4096 at most, and
/// ends connections that send thousands of frames with hardly any content.
package final class FrameGate: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// What was read and may not continue yet: a few frames, and the stream that is reset behind them.
    private struct Piece {
        let bytes: ByteBuffer
        let reset: Int?
    }

    private let hold: (_ change: Int) -> Bool
    private let onReset: ((_ stream: Int) -> Void)?
    private let mayPass: () -> Bool
    private var pieces: [Piece] = []
    /// Whether nothing more is wanted of the client.
    private var isOver = false
    /// Whether the channel asked for more bytes while some were here.
    private var isReadDue = false
    private var context: ChannelHandlerContext?
    private var scanner: FrameScanner
    private var held = 0
    private var allowance = FrameAllowance()

    /// - Parameters:
    ///   - hold: counts bytes that the parser keeps because their frame is not complete, or their release; returns whether
    ///     they fit. If they do not, the connection is closed.
    ///   - onReset: ends a stream that the client has reset. The parser does not see the reset: it would end a connection with
    ///     many of them, which may be those of many clients behind a proxy. Nil to let the parser see and count them.
    ///   - mayPass: whether the parser may get more; if not, nothing more is read until ``resume()``. If resets are hidden, it is
    ///     asked again after a few frames.
    package init(
        hold: @escaping (_ change: Int) -> Bool = { _ in true }, onReset: ((_ stream: Int) -> Void)? = nil,
        mayPass: @escaping () -> Bool = { true }
    ) {
        self.onReset = onReset
        self.hold = hold
        self.mayPass = mayPass
        scanner = FrameScanner(hidesResets: onReset != nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        guard pieces.isEmpty else {
            // Nothing was asked for: the client has left, and NIO reads all that it had sent. Nobody waits for the answers.
            isOver = true
            pieces = []
            context.close(promise: nil)
            return
        }
        var bytes = unwrapInboundIn(data)
        scanner.pass(&bytes)
        guard allowance.takes(scanner.frames, bytes: bytes.readableBytes, at: context.eventLoop.now) else {
            leave(context)
            return
        }
        scanner.frames = 0
        if scanner.unfinished != held {
            guard hold(scanner.unfinished - held) else {
                context.close(promise: nil)
                return
            }
            held = scanner.unfinished
        }
        for cut in scanner.cuts {
            let piece = bytes.readSlice(length: cut.index - bytes.readerIndex) ?? ByteBuffer()
            pieces.append(Piece(bytes: piece, reset: cut.reset))
        }
        scanner.cuts = []
        if bytes.readableBytes > 0 { pieces.append(Piece(bytes: bytes, reset: nil)) }
        pass(context)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        pieces = []
    }

    package func channelInactive(context: ChannelHandlerContext) {
        pieces = []
        context.fireChannelInactive()
    }

    package func read(context: ChannelHandlerContext) {
        guard pieces.isEmpty else {
            isReadDue = true
            return
        }
        context.read()
    }

    /// More may pass now.
    package func resume() {
        guard let context, !pieces.isEmpty else { return }
        pass(context)
        context.fireChannelReadComplete()
    }

    /// Passes on what may continue, in the order in which it came.
    private func pass(_ context: ChannelHandlerContext) {
        var count = 0
        while count < pieces.count, mayPass() {
            let piece = pieces[count]
            count += 1
            if piece.bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(piece.bytes)) }
            if let stream = piece.reset { onReset?(stream) }
        }
        // The connection may have ended meanwhile.
        pieces.removeFirst(min(count, pieces.count))
        guard pieces.isEmpty, isReadDue else { return }
        isReadDue = false
        context.read()
    }

    /// Says ENHANCE_YOUR_CALM (RFC 9113, section 7), and closes the connection.
    private func leave(_ context: ChannelHandlerContext) {
        isOver = true
        var frame = context.channel.allocator.buffer(capacity: 17)
        // GOAWAY with 8 bytes, on stream 0; the last stream is unknown here, so no request is promised an answer.
        frame.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11])
        context.writeAndFlush(wrapOutboundOut(frame)).whenComplete { [channel = context.channel] _ in
            channel.close(promise: nil)
        }
    }
}

/// Follows the frames that a client sends (RFC 9113, section 4.1), in pieces of any size, before the protocol's parser.
///
/// It knows how many bytes the parser keeps because their frame or their block of fields is not complete. And it lowers
/// SETTINGS_HEADER_TABLE_SIZE to 4096, the protocol's default: the encoder of replies then never keeps a larger table,
/// which it searches completely for each field. A client cannot demand a larger one (RFC 7541, section 4.2).
///
/// It can hide resets from the parser, as frames of a type that no parser knows, which it ignores (RFC 9113, section 4.1).
struct FrameScanner {
    /// The part of the stream that the next byte belongs to.
    private enum Part {
        /// The client's preface, before all frames; the parser checks it.
        case preface
        case head
        case payload
        case setting
    }

    private static let prefaceLength = 24
    private static let headLength = 9
    private static let settings: UInt8 = 4
    private static let acknowledged: UInt8 = 1
    private static let endOfHeaders: UInt8 = 4
    private static let tableSizeIdentifier = 1
    private static let reset: UInt8 = 3
    private static let resetLength = 4
    /// A type for experiments (RFC 7540, section 11.2).
    private static let unknown: UInt8 = 0xF0
    /// The most frames between two cuts: two calls of one message.
    private static let mostUncut = 4

    private let hidesResets: Bool

    private var part = Part.preface
    /// How many bytes of the part are still to come; for settings, those of all of them.
    private var rest = prefaceLength

    // The received bytes of the frame's head.
    private var length = 0
    private var type: UInt8 = 0
    private var flags: UInt8 = 0
    private var stream = 0

    // The received bytes of the setting: two of its identifier and four of its value.
    private var identifier = 0
    private var isTooLarge = false

    /// How many bytes the parser keeps until more arrive.
    ///
    /// DATA is passed on as it arrives.
    private(set) var unfinished = 0
    /// How many frames ended since this was set to zero.
    var frames = 0
    /// Where the bytes can be divided, since this was emptied: behind each hidden reset, with its stream, because frames after it may
    /// open a stream in the place of the one that it ends; and behind every few other frames, which may be as many calls.
    var cuts: [(index: Int, reset: Int?)] = []
    /// The frames since the last of them.
    private var uncut = 0

    init(hidesResets: Bool = false) {
        self.hidesResets = hidesResets
    }

    /// Reads the next bytes, lowers settings that are too large, and hides resets.
    mutating func pass(_ bytes: inout ByteBuffer) {
        var index = bytes.readerIndex
        while index < bytes.writerIndex {
            let before = frames
            switch part {
            case .preface, .payload:
                let count = min(rest, bytes.writerIndex - index)
                if case .payload = part, isKept { unfinished += count }
                rest -= count
                index += count
                if rest == 0 { endPart() }
            case .head:
                takeHead(bytes.getInteger(at: index, as: UInt8.self) ?? 0)
                if isHidden, rest == FrameScanner.headLength - 4 { bytes.setInteger(FrameScanner.unknown, at: index) }
                index += 1
            case .setting:
                takeSetting(&bytes, at: index)
                index += 1
            }
            if hidesResets, frames > before { cut(at: index) }
        }
    }

    /// A frame has ended.
    private mutating func cut(at index: Int) {
        uncut += 1
        guard isHidden || uncut >= FrameScanner.mostUncut else { return }
        cuts.append((index, isHidden ? stream : nil))
        uncut = 0
    }

    private mutating func takeHead(_ byte: UInt8) {
        switch FrameScanner.headLength - rest {
        case 0: length = Int(byte)
        case 1, 2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: flags = byte
        case 5: stream = Int(byte & 0x7F)
        default: stream = stream << 8 | Int(byte)
        }
        unfinished += 1
        rest -= 1
        guard rest == 0 else { return }
        rest = length
        part = type == FrameScanner.settings && flags & FrameScanner.acknowledged == 0 ? .setting : .payload
        if !isKept { unfinished = 0 }
        if rest == 0 { endPart() }
    }

    /// A value beyond the limit is replaced while its bytes pass, so that none must be delayed: 4096 is 00 00 10 00.
    private mutating func takeSetting(_ bytes: inout ByteBuffer, at index: Int) {
        let byte = bytes.getInteger(at: index, as: UInt8.self) ?? 0
        var changed = byte
        switch (length - rest) % 6 {
        case 0:
            identifier = Int(byte)
            isTooLarge = false
        case 1:
            identifier = identifier << 8 | Int(byte)
        case let position where identifier == FrameScanner.tableSizeIdentifier:
            switch position {
            case 2, 3:
                if byte > 0 { isTooLarge = true }
                changed = 0
            case 4:
                if byte >= 0x10 { isTooLarge = true }
                changed = isTooLarge ? 0x10 : byte
            default:
                changed = isTooLarge ? 0 : byte
            }
        default:
            break
        }
        if changed != byte { bytes.setInteger(changed, at: index) }
        unfinished += 1
        rest -= 1
        if rest == 0 { endPart() }
    }

    /// Whether the frame is a reset that the parser does not see.
    private var isHidden: Bool { hidesResets && type == FrameScanner.reset && length == FrameScanner.resetLength }

    /// Whether the parser keeps the frame until it is complete.
    private var isKept: Bool { type != 0 }

    private mutating func endPart() {
        if case .preface = part {
            // Nothing is kept yet.
        } else {
            // HEADERS, PUSH_PROMISE or CONTINUATION: the block continues in the next frame.
            let isOpenBlock = (type == 1 || type == 5 || type == 9) && flags & FrameScanner.endOfHeaders == 0
            if !isOpenBlock { unfinished = 0 }
            frames += 1
        }
        part = .head
        rest = FrameScanner.headLength
    }
}
