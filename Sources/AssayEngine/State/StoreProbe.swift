internal import AssayCore
internal import AssayKit
internal import Logging

/// Checks whether the state store works, by writing an entry and reading it again: a full disk can still be read.
///
/// The store is checked at most once in a few seconds, however many callers ask, and no caller waits long for it.
actor StoreProbe {
    private let host: PluginHost
    private var last: (readiness: Readiness, at: Duration)?
    /// When the running check began; nil when none runs.
    private var trying: Duration?
    private var waiting: [AsyncStream<Void>.Continuation] = []
    private var count: UInt64 = 0

    /// How long a result is used.
    static let lifetime: Duration = .seconds(3)
    /// How long the store may take.
    static let timeLimit: Duration = .seconds(2)
    private static let silence = Readiness.notReady("the state store does not answer")

    init(_ host: PluginHost) {
        self.host = host
    }

    var readiness: Readiness {
        get async {
            let now = host.clock.uptime
            if let last, now - last.at < StoreProbe.lifetime { return last.readiness }
            if let trying {
                // A caller need not wait for a store that does not answer.
                if now - trying >= StoreProbe.timeLimit { return StoreProbe.silence }
            } else {
                trying = now
                // A separate task, one at a time: a caller must be able to stop waiting for a store that does not
                // answer.
                Task { await attempt() }
            }
            await waitForTheEnd()
            if let last, last.at >= now { return last.readiness }
            host.logger.warning("the state store does not answer in time")
            return StoreProbe.silence
        }
    }

    private func attempt() async {
        count &+= 1
        let value = Array("\(host.clock.now) \(count)".utf8)
        // A namespace that no plugin can have: theirs contain a slash.
        let key = StateKey("readiness", "probe")
        let readiness: Readiness
        do {
            try await host.store.put(key, value: value, expires: host.clock.now + .seconds(60))
            let isKept = try await host.store.get(key) != nil
            readiness = isKept ? .ready : .notReady("the state store forgets what is written")
        } catch {
            host.logger.warning("the state store cannot be written", metadata: ["error": "\(error)"])
            let reason = PlainText.line("\(error)", limit: 300)
            readiness = .notReady("the state store cannot be written: \(reason)")
        }
        last = (readiness, host.clock.uptime)
        trying = nil
        for continuation in waiting { continuation.finish() }
        waiting = []
    }

    /// Returns when the check has ended, or its time is over.
    private func waitForTheEnd() async {
        guard trying != nil else { return }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        waiting.append(continuation)
        try? await Deadline.run(StoreProbe.timeLimit, clock: host.clock) { for await _ in stream {} }
    }
}
