#if Simulator
internal import NIOCore

/// Calls the server before the measured phase: requests wait for a free connection of the pool.
final class LoadCaller {
    private let pool: LoadPool
    private var waiting = CircularBuffer<(request: ByteBuffer, promise: EventLoopPromise<LoadReply>)>()
    private var isClosed = false

    init(_ pool: LoadPool) {
        self.pool = pool
        pool.onIdle = { [unowned self] in pump() }
    }

    /// Sends a request as soon as it can.
    func call(_ request: ByteBuffer, _ promise: EventLoopPromise<LoadReply>) {
        guard !isClosed else { return promise.fail(LoadFailure("the load was interrupted")) }
        waiting.append((request, promise))
        pump()
    }

    /// Fails what waits, and all that comes.
    func close() {
        isClosed = true
        while let (_, promise) = waiting.popFirst() { promise.fail(LoadFailure("the load was interrupted")) }
    }

    private func pump() {
        if let failure = pool.failure, pool.openCount == 0 {
            while let (_, promise) = waiting.popFirst() { promise.fail(LoadFailure("no connection: \(failure)")) }
        }
        while !waiting.isEmpty {
            guard let connection = pool.take() else { return pool.openMore() }
            guard let (request, promise) = waiting.popFirst() else { return pool.release(connection) }
            connection.send(request) { [pool, unowned connection] result in
                promise.completeWith(result.mapError { $0 as any Error })
                pool.release(connection)
            }
        }
    }
}
#endif
