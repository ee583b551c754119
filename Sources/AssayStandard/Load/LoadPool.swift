#if Simulator
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Where a load goes.
struct LoadTarget: Sendable {
    let host: String
    let port: Int
    /// The value of the field `Host`.
    let authority: String
    /// What is before the paths of App Check; empty or with a slash at its beginning.
    let path: String
    /// Nil without TLS.
    let tls: NIOSSLContext?
    /// What a failure of TLS means; nil for another error.
    let tlsWords: @Sendable (any Error) -> String?
}

/// A bounded number of connections to one server.
///
/// It is used on its event loop alone.
final class LoadPool {
    let eventLoop: any EventLoop
    private let target: LoadTarget
    private let limit: Int
    private var idle: [LoadConnection] = []
    private var all: [ObjectIdentifier: LoadConnection] = [:]
    private var opening = 0
    private var isPaused = false
    private var isClosed = false
    /// How many connections were opened.
    private(set) var opened = 0
    /// Why the last connection could not be opened.
    private(set) var failure: String?
    /// A connection is free.
    var onIdle: () -> Void = {}

    init(_ target: LoadTarget, connections: Int, eventLoop: any EventLoop) {
        self.target = target
        limit = connections
        self.eventLoop = eventLoop
    }

    /// The connections that are open.
    var openCount: Int { all.count }

    /// Whether a connection is free.
    var hasIdle: Bool { !idle.isEmpty }

    /// A free connection; it comes back with ``release(_:)``.
    func take() -> LoadConnection? {
        while let connection = idle.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    /// Gives back a connection, which may have been closed.
    func release(_ connection: LoadConnection) {
        if connection.isUsable { idle.append(connection) }
        onIdle()
    }

    /// Opens connections until there are so many, and no more than the limit.
    func open(_ count: Int) {
        while !isPaused, !isClosed, all.count + opening < min(count, limit) { openOne() }
    }

    /// Opens one more, unless as many as allowed are open.
    func openMore() { open(all.count + opening + 1) }

    /// Closes connections whose request was sent before a time and is not answered.
    func closeSilent(since time: NIODeadline) {
        for connection in all.values {
            if let sent = connection.sent, sent < time { connection.close(because: "no answer in time") }
        }
    }

    /// Closes all connections, and opens no other.
    func close() {
        isClosed = true
        for connection in all.values { connection.close(because: "the load has ended") }
    }

    private func openOne() {
        opening += 1
        ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(5))
            .channelInitializer { [target] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = target.tls {
                        let isAddress = (try? SocketAddress(ipAddress: target.host, port: 0)) != nil
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : target.host))
                    }
                    try channel.pipeline.syncOperations.addHandler(LoadConnection(tlsWords: target.tlsWords))
                }
            }
            .connect(host: target.host, port: target.port)
            .hop(to: eventLoop).assumeIsolated()
            .whenComplete { [self] result in
                opening -= 1
                switch result {
                case .success(let channel): take(channel)
                case .failure(let error): pause(because: "\(error)")
                }
            }
    }

    private func take(_ channel: any Channel) {
        guard !isClosed, let connection = try? channel.pipeline.syncOperations.handler(type: LoadConnection.self) else {
            channel.close(promise: nil)
            return
        }
        opened += 1
        all[ObjectIdentifier(connection)] = connection
        connection.onClose = { [unowned self, unowned connection] in
            all[ObjectIdentifier(connection)] = nil
            idle.removeAll { $0 === connection }
        }
        guard connection.isUsable else { return }
        idle.append(connection)
        onIdle()
    }

    /// Opens no connection for a moment: a server that refuses them would be called in a loop.
    private func pause(because words: String) {
        failure = words
        guard !isPaused else { return }
        isPaused = true
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { [self] in
            isPaused = false
            onIdle()
        }
    }
}
#endif
