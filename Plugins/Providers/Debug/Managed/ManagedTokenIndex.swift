internal import AssayCore
internal import AssayKit
internal import Synchronization

/// The hashes of an app's registered debug tokens, each as a separate entry in the state store, so that an unknown
/// token costs one lookup.
///
/// The document with all tokens is authoritative; the index only shows for which tokens it must be read. A superfluous
/// entry costs time, and a missing one causes a token to be refused. So the index is compared with the document before
/// it is used, which also adds the tokens that an earlier version registered, and after that once a minute while
/// unknown tokens come: a server of an earlier version may share the store.
final class ManagedTokenIndex: Sendable {
    private enum Comparison {
        case never
        case running(done: Duration?)
        case done(Duration)
    }

    /// The time from one comparison to the next.
    static let interval = Duration.seconds(60)
    /// More than an app may have tokens.
    static let listLimit = 10_000

    private let comparison = Mutex(Comparison.never)

    /// What a missing entry means now.
    enum Absence {
        /// The token does not exist.
        case certain
        /// The document must be asked, and the index be compared with it by the caller.
        case toCompare
        /// The document must be asked: another call compares the index for the first time.
        case toRead
    }

    func add(_ hash: [UInt8], _ context: ProviderContext) async throws {
        try await space(context).put(Hex.encode(hash), value: Array("1".utf8))
    }

    func remove(_ hash: [UInt8], _ context: ProviderContext) async throws {
        try await space(context).put(Hex.encode(hash), value: nil)
    }

    /// Whether a hash has an entry.
    func has(_ hash: [UInt8], _ context: ProviderContext) async throws -> Bool {
        try await space(context).get(Hex.encode(hash)) != nil
    }

    /// The meaning of a missing entry.
    func absence(at uptime: Duration) -> Absence {
        comparison.withLock { comparison in
            switch comparison {
            case .never:
                comparison = .running(done: nil)
                return .toCompare
            case .running(nil): return .toRead
            case .running: return .certain
            case .done(let time):
                guard uptime - time >= Self.interval else { return .certain }
                comparison = .running(done: time)
                return .toCompare
            }
        }
    }

    /// Makes the index say what the document does, and returns what that is.
    ///
    /// The index is listed first: a token that was registered after that is in the document, and its entry stays.
    func compare(
        _ context: ProviderContext, at uptime: Duration, with read: () async throws -> ManagedTokens
    ) async throws -> ManagedTokens {
        do {
            let space = space(context)
            let listed = Set(try await space.list(limit: Self.listLimit).map { ExactText($0.name) })
            let tokens = try await read()
            let wanted = Set(tokens.hashes.map { ExactText(Hex.encode($0)) })
            for name in wanted.subtracting(listed) { try await space.put(name.string, value: Array("1".utf8)) }
            for name in listed.subtracting(wanted) { try await space.put(name.string, value: nil) }
            comparison.withLock { $0 = .done(uptime) }
            return tokens
        } catch {
            comparison.withLock { comparison in
                if case .running(let done?) = comparison { comparison = .done(done) } else { comparison = .never }
            }
            throw error
        }
    }

    private func space(_ context: ProviderContext) -> StateSpace {
        context.appState.subspace("hashes")
    }
}
