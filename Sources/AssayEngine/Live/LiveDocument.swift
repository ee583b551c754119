internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// A document of the state store that administrators change, as this server knows it: read again every two seconds, beside the
/// requests if ``LiveState/run()`` runs, and by one of them otherwise.
///
/// What was changed on any server so takes effect on all of them within seconds. While the store cannot be read, what is known
/// stays in force: without the store nobody can change it.
final class LiveDocument<Value: Sendable>: Sendable {
    /// What a version of the document says.
    struct Reading: Sendable {
        let value: Value
        let version: UInt64
    }

    /// What is known, and when the last reading began, even if it failed.
    struct Known: Sendable {
        fileprivate let reading: Reading
        fileprivate let read: Duration

        var value: Value { reading.value }

        /// Whether it need not be read again.
        func isPresent(uptime: Duration, atMost age: Duration) -> Bool { uptime - read < age }

        func isOlder(than other: Known?) -> Bool {
            guard let other else { return false }
            return reading.version < other.reading.version || read < other.read
        }
    }

    private enum Step {
        case known(Value)
        case read(Reading)
        case readFirst
    }

    private struct State {
        var known: Reading?
        /// When the last reading began.
        var read: Duration?
        var isReading = false
        var failure: String?
    }

    /// How long reading may take.
    private let timeLimit = Duration.seconds(1)

    /// What it is, for people.
    private let name: String
    private let host: PluginHost
    private let document: VersionedDocument
    private let decode: @Sendable ([UInt8]?) throws -> Value
    private let publish: @Sendable (Known) -> Void
    private let state = Mutex(State())
    /// Before anything is known, one request reads, and those that come meanwhile wait for it.
    private let firstReading = SharedWork<UInt64, Value>()

    /// - Parameters:
    ///   - publish: gets what is known after each reading.
    ///   - decode: reads the bytes of the document, or that there is none.
    init(
        _ name: String, _ document: VersionedDocument, _ host: PluginHost,
        publish: @escaping @Sendable (Known) -> Void = { _ in },
        _ decode: @escaping @Sendable ([UInt8]?) throws -> Value
    ) {
        self.name = name
        self.document = document
        self.host = host
        self.decode = decode
        self.publish = publish
    }

    /// What is in force.
    ///
    /// - Parameter age: how old it may be before one request reads it again.
    /// - Throws: the store's error, if it was never read.
    nonisolated(nonsending) func present(uptime: Duration, atMost age: Duration) async throws -> Value {
        let step = state.withLock { state -> Step in
            guard let known = state.known else { return .readFirst }
            // One request reads; the others continue with what is known.
            if state.read.map({ uptime - $0 < age }) ?? false || state.isReading { return .known(known.value) }
            state.isReading = true
            return .read(known)
        }
        switch step {
        case .known(let value): return value
        case .read(let known): return (try? await update(known, uptime)) ?? known.value
        case .readFirst:
            return try await firstReading.value(for: 0) { [self] in try await update(nil, uptime) }
        }
    }

    /// Reads the document now.
    func refresh() async {
        let uptime = host.clock.uptime
        guard let known = state.withLock({ $0.known }) else {
            _ = try? await present(uptime: uptime, atMost: .zero)
            return
        }
        state.withLock { $0.isReading = true }
        _ = try? await update(known, uptime)
    }

    /// What is known, without reading; nil when nothing is.
    var known: Value? { state.withLock { $0.known?.value } }

    /// Why it cannot be read, for operators; nil when it can.
    var caution: String? {
        state.withLock { $0.failure }.map {
            "\(name) cannot be read, and what is known of it stays in force: \(SafeText.of($0))"
        }
    }

    private func update(_ known: Reading?, _ uptime: Duration) async throws -> Value {
        do {
            let reading = try await Deadline.run(timeLimit, clock: host.clock) { [document, decode] in
                let reading = try await document.read()
                if let known, reading.version == known.version { return known }
                return Reading(value: try decode(reading.value), version: reading.version)
            }
            note(reading, at: uptime)
            return reading.value
        } catch {
            fail(error, at: uptime)
            throw error
        }
    }

    private func note(_ reading: Reading, at uptime: Duration) {
        let (before, known) = state.withLock { state in
            let before = state.failure
            // Of two readings at once, the later document counts.
            if reading.version >= state.known?.version ?? 0 { state.known = reading }
            (state.read, state.isReading, state.failure) = (uptime, false, nil)
            return (before, state.known)
        }
        if let known { publish(Known(reading: known, read: uptime)) }
        if !before.isNil { host.logger.notice("\(name) can be read again") }
    }

    private func fail(_ error: any Error, at uptime: Duration) {
        let text = error is DeadlineExceeded ? "the state store did not answer within a second" : "\(error)"
        let (isNew, known) = state.withLock { state in
            defer { (state.read, state.isReading, state.failure) = (uptime, false, text) }
            return (state.failure.isNil, state.known)
        }
        if let known { publish(Known(reading: known, read: uptime)) }
        if isNew {
            host.logger.error(
                "\(name) cannot be read from the state: what is known of it stays in force",
                metadata: ["error": "\(text)"])
        }
    }
}
