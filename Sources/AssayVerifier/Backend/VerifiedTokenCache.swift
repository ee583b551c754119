package import AssayCore
internal import AssayCrypto
internal import Synchronization

/// Tokens that were verified with one set of keys, by their SHA-256.
///
/// It has two generations: a token that is used again moves to the young one, and when that is full the old one is
/// dropped. So it is bounded, needs the same time for each token, and forgets tokens that are no longer used.
package final class VerifiedTokenCache: Sendable {
    private struct Key: Hashable {
        let words: (UInt64, UInt64, UInt64, UInt64)

        static func == (left: Key, right: Key) -> Bool { left.words == right.words }

        // A digest is as good as any hash of it.
        func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
    }

    private struct State {
        var young: [Key: VerifiedToken] = [:]
        var old: [Key: VerifiedToken] = [:]
    }

    private let state = Mutex(State())
    private let generation: Int

    /// - Parameter limit: how many tokens it may hold; none when 0.
    package init(limit: Int) {
        generation = max(limit, 0) / 2
    }

    /// The claims of a token that was put in, whether or not it has expired since.
    package func token(_ key: TokenDigest) -> VerifiedToken? {
        let key = Key(words: key.words)
        return state.withLock { state in
            if let token = state.young[key] { return token }
            guard let token = state.old.removeValue(forKey: key) else { return nil }
            insert(token, key, &state)
            return token
        }
    }

    package func insert(_ token: VerifiedToken, _ key: TokenDigest) {
        state.withLock { insert(token, Key(words: key.words), &$0) }
    }

    package func remove(_ key: TokenDigest) {
        let key = Key(words: key.words)
        state.withLock { state in
            state.young[key] = nil
            state.old[key] = nil
        }
    }

    var count: Int { state.withLock { $0.young.count + $0.old.count } }

    private func insert(_ token: VerifiedToken, _ key: Key, _ state: inout State) {
        guard generation > 0 else { return }
        if state.young.count >= generation {
            state.old = state.young
            state.young = [:]
        }
        state.young[key] = token
    }
}

/// The SHA-256 of a token as it was sent.
package struct TokenDigest: Sendable {
    let words: (UInt64, UInt64, UInt64, UInt64)

    package init(of token: String) {
        let digest = SHA256.hash(token.utf8)
        words = digest.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
            )
        }
    }
}
