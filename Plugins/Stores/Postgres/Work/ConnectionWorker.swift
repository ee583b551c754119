internal import AssayCore
internal import Logging

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Blocks the thread.
func pause(_ duration: Duration) {
    usleep(useconds_t(clamping: duration.wholeMilliseconds * 1000))
}

/// The work of one thread: it keeps a connection, and sends what the queue has.
struct ConnectionWorker {
    private let core: StoreCore

    private static let backoff = Backoff(first: .milliseconds(50), limit: .seconds(2))
    /// How often an idle connection is looked at.
    private static let idle = Duration.seconds(1)
    /// How often the mark of the database is read.
    private static let recognition = Duration.seconds(5)

    init(_ core: StoreCore) {
        self.core = core
    }

    /// Until the store is closed.
    func run() {
        var failures = 0
        while !core.queue.isClosed {
            do throws(PostgresStoreError) {
                let db = try core.connect()
                core.queue.noteConnection()
                if failures > 0 { core.logger.notice("\(core.place): connected again") }
                failures = 0
                let error = serve(db)
                core.queue.noteFailure(error, isLoss: true)
                guard error.code != .closed else { return }
                core.logger.warning("\(error.message)")
            } catch {
                core.queue.noteFailure(error, isLoss: false)
                failures += 1
                if failures == 1 { core.logger.warning("\(error.message)") }
                rest(Self.backoff.delay(after: failures, randomness: .system))
            }
        }
    }

    private func rest(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end, !core.queue.isClosed { pause(.milliseconds(25)) }
    }

    /// Uses a connection until it is lost; returns why.
    private func serve(_ db: Connection) -> PostgresStoreError {
        var recognised = ContinuousClock.now
        while true {
            let requests = core.queue.take(atMost: Self.idle)
            if let requests, requests.isEmpty { return PostgresStoreError(.closed, "the store is closed") }
            do throws(PostgresStoreError) {
                // Another thread may have met the server that took over from this one.
                try core.follow(db.history)
            } catch {
                core.queue.giveBack(requests ?? [])
                return error
            }
            guard db.isOpen else {
                // Nothing was sent: another connection can take them.
                core.queue.giveBack(requests ?? [])
                return PostgresStoreError(.cannotConnect, "\(core.place): the server has ended the connection")
            }
            if let requests, let error = send(requests, on: db) { return error }
            guard ContinuousClock.now - recognised > Self.recognition else { continue }
            recognised = .now
            do {
                let end = ContinuousClock.now + core.location.timeout
                try core.recognise(SchemaMark.read(db, core.location.schema, core.place, until: end))
            } catch {
                return StoreCore.known(error, core.place)
            }
        }
    }

    private func send(_ requests: [Request], on db: Connection) -> PostgresStoreError? {
        let batch = Batch(requests, queue: core.queue, place: core.place)
        do throws(ConnectionLost) {
            try db.exchange(
                batch.steps, until: .now + core.location.timeout, waiting: { batch.expire() },
                answered: { batch.take($0, $1) })
        } catch {
            batch.lose(error)
            return batch.ending?.error(at: core.place) ?? StoreCore.known(error, core.place)
        }
        return batch.ending?.error(at: core.place)
    }
}
