package import Logging
package import NIOCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Keeps the server running when accepting a connection fails: because of missing file descriptors or memory, or
/// because the client has left already.
///
/// It is first in the pipeline of the listening channel. Later in the pipeline such an error would end the server.
/// Accepting pauses for a moment then, because waiting connections would cause the same error repeatedly.
package final class AcceptPause: ChannelDuplexHandler {
    package typealias InboundIn = any Channel
    package typealias OutboundIn = Never

    private let logger: Logger
    private let onFailure: () -> Void
    private var isPausing = false
    private var isReadHeld = false
    private var lastComplaint: NIODeadline?
    private var timer: Scheduled<Void>?

    private static let pause = TimeAmount.milliseconds(100)
    private static let warningInterval = TimeAmount.seconds(10)

    /// - Parameter onFailure: called whenever accepting a connection fails.
    package init(logger: Logger, onFailure: @escaping () -> Void = {}) {
        self.logger = logger
        self.onFailure = onFailure
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let code = (error as? IOError)?.errnoCode, AcceptPause.passes(code) else {
            context.fireErrorCaught(error)
            return
        }
        onFailure()
        let now = NIODeadline.now()
        if lastComplaint.map({ now - $0 >= AcceptPause.warningInterval }) ?? true {
            lastComplaint = now
            logger.error("a connection cannot be accepted", metadata: ["error": "\(String(cString: strerror(code)))"])
        }
        guard !isPausing, code != ECONNABORTED else { return }
        isPausing = true
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: AcceptPause.pause) {
            let (handler, context) = bound.value
            handler.resume(context)
        }
    }

    package func read(context: ChannelHandlerContext) {
        if isPausing {
            isReadHeld = true
        } else {
            context.read()
        }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func resume(_ context: ChannelHandlerContext) {
        isPausing = false
        guard isReadHeld else { return }
        isReadHeld = false
        context.read()
    }

    /// Whether the error concerns one connection or is temporary, so that NIO keeps the channel open.
    private static func passes(_ code: CInt) -> Bool {
        [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}
