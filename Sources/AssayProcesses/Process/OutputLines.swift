internal import NIOCore
internal import NIOPosix

/// Reads the output of a process line by line: long lines are cut, and beyond some lines a second they are dropped.
final class OutputLines: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let lineLimit = 4096
    private static let linesPerSecond = 100

    private let take: @Sendable (String) -> Void
    private var line: [UInt8] = []
    private var isCut = false
    private var second = NIODeadline.now()
    private var count = 0
    private var dropped = 0
    private var report: Scheduled<Void>?

    private init(_ take: @escaping @Sendable (String) -> Void) {
        self.take = take
    }

    /// Reads until the end of a pipe, which it closes.
    static func read(_ descriptor: CInt, _ take: @escaping @Sendable (String) -> Void) {
        NIOPipeBootstrap(group: UnaryListener.group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(OutputLines(take))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .whenFailure { _ in }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for byte in unwrapInboundIn(data).readableBytesView {
            if byte == UInt8(ascii: "\n") {
                finish()
            } else if line.count < OutputLines.lineLimit {
                line.append(byte)
            } else {
                isCut = true
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        guard dropped > 0, report == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        report = context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.reportDropped() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        report?.cancel()
        if !line.isEmpty { finish() }
        reportDropped()
        context.fireChannelInactive()
    }

    private func reportDropped() {
        report = nil
        if dropped > 0 { take("… \(dropped) lines were dropped") }
        dropped = 0
    }

    private func finish() {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        let now = NIODeadline.now()
        if now - second >= .seconds(1) {
            reportDropped()
            (second, count) = (now, 0)
        }
        count += 1
        guard count <= OutputLines.linesPerSecond else {
            dropped += 1
            return
        }
        take(String(decoding: line, as: UTF8.self) + (isCut ? "…" : ""))
    }
}
