internal import AssayCore
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// Commands that are sent in one piece, and the answers that are awaited.
struct Exchange: Sendable {
    let bytes: ByteBuffer
    let count: Int
    let limit: TimeAmount
    let promise: EventLoopPromise<[RedisReply]>
    private let acceptance = Acceptance()

    init(bytes: ByteBuffer, count: Int, limit: TimeAmount, promise: EventLoopPromise<[RedisReply]>) {
        self.bytes = bytes
        self.count = count
        self.limit = limit
        self.promise = promise
    }

    private final class Acceptance: Sendable {
        let isGiven = Atomic(false)
    }

    /// Whether a handler answers for it: from then on a part of the commands may have been sent.
    var isAccepted: Bool { acceptance.isGiven.load(ordering: .acquiring) }

    func accept() { acceptance.isGiven.store(true, ordering: .releasing) }
}

/// Why an exchange has no answers.
struct ExchangeFailure: Error {
    let error: RedisStoreError
    /// Whether the server may have received the commands.
    let wasSent: Bool
}

/// Why a connection has ended, which is asked for also after its handler is gone.
final class ConnectionEnd: Sendable {
    private let error = Mutex<RedisStoreError?>(nil)

    var reason: RedisStoreError? { error.withLock { $0 } }

    /// The first reason counts.
    func note(_ reason: RedisStoreError) {
        error.withLock { $0 = $0 ?? reason }
    }
}

/// Sends commands and matches answers to them, in their order, until one is late or not of the protocol.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Exchange
    typealias OutboundOut = ByteBuffer

    private struct Pending {
        let exchange: Exchange
        let timer: Scheduled<Void>
        var replies: [RedisReply] = []
    }

    private let server: String
    private let reader = ReplyReader()
    private var pending: [Pending] = []
    private let connectionEnd: ConnectionEnd
    private var failure: RedisStoreError? { connectionEnd.reason }

    init(server: String, end: ConnectionEnd) {
        self.server = server
        connectionEnd = end
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        guard failure == nil, context.channel.isActive else {
            let error = failure ?? RedisStoreError(.connectionLost, "\(server): the connection is closed")
            exchange.promise.fail(ExchangeFailure(error: error, wasSent: false))
            promise?.fail(error)
            return
        }
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: exchange.limit) { [server] in
            self.end(context, RedisStoreError(.timedOut, "\(server): no answer in time"))
        }
        exchange.accept()
        pending.append(Pending(exchange: exchange, timer: timer))
        context.write(wrapOutboundOut(exchange.bytes), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard failure == nil else { return }
        let replies: [RedisReply]
        do {
            replies = try reader.read(unwrapInboundIn(data))
        } catch {
            end(
                context,
                RedisStoreError(
                    .badAnswer,
                    "\(server): \(error.reason), which no Redis or Valkey sends: check the address, and the scheme: "
                        + "rediss for TLS, redis without"))
            return
        }
        for reply in replies { take(reply, context) }
    }

    private func take(_ reply: RedisReply, _ context: ChannelHandlerContext) {
        guard !pending.isEmpty else {
            // A server that turns a client away says why before it closes.
            if case .error(let error) = reply { return end(context, RedisStoreError(answer: error, from: server)) }
            return end(context, RedisStoreError(.badAnswer, "\(server): an answer without a question"))
        }
        pending[0].replies.append(reply)
        if pending[0].replies.count == pending[0].exchange.count {
            let done = pending.removeFirst()
            done.timer.cancel()
            done.exchange.promise.succeed(done.replies)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        var meaning = RedisStoreError(connecting: error, to: server)
        if error is IOError { meaning = RedisStoreError(.connectionLost, "\(server): the connection was lost") }
        end(context, meaning)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context, RedisStoreError(.connectionLost, "\(server): the server has closed the connection"))
        context.fireChannelInactive()
    }

    /// Fails what waits for answers, once, and closes the connection: later answers would belong to nothing.
    private func end(_ context: ChannelHandlerContext, _ error: RedisStoreError) {
        guard failure == nil else { return }
        connectionEnd.note(error)
        for pending in pending {
            pending.timer.cancel()
            pending.exchange.promise.fail(ExchangeFailure(error: error, wasSent: true))
        }
        pending = []
        context.close(promise: nil)
    }
}

extension RedisStoreError {
    /// The meaning of an error of the network or of TLS.
    init(connecting error: any Error, to server: String) {
        if let known = error as? RedisStoreError {
            self = known
            return
        }
        if let failure = error as? NIOConnectionError {
            guard let first = failure.connectionErrors.first else {
                self.init(
                    .unknownHost,
                    "\(server): the name cannot be resolved; check the host in the URL and the name server")
                return
            }
            self.init(connecting: first.error, to: server)
            return
        }
        let text = Self.shortened("\(error)")
        switch error {
        case let error as IOError where error.errnoCode == 111 || error.errnoCode == 61:
            self.init(
                .connectionRefused, "\(server): nothing listens there; check the address and that the server runs")
        case let error as IOError where error.errnoCode == 2:
            self.init(.cannotConnect, "\(server): no such socket file; check the path and that the server runs")
        case is IOError:
            self.init(.cannotConnect, "\(server): \(text)")
        case is ChannelError:
            self.init(.cannotConnect, "\(server): no connection in time; check the address and the firewall")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            if text.utf8.contains("CERTIFICATE_VERIFY_FAILED".utf8)
                || text.utf8.contains("failedToValidateHostname".utf8)
            {
                self.init(
                    .certificateRejected,
                    "\(server): the server's certificate is not trusted or not of this name; "
                        + "name its authority with #ca=PATH, or the host as in the certificate (\(text))")
            } else {
                self.init(.tlsFailed, "\(server): TLS failed; check that the server speaks TLS at this port (\(text))")
            }
        default:
            self.init(.connectionLost, "\(server): \(text)")
        }
    }
}
