internal import AssayCore
internal import AssayKit
internal import Synchronization

/// Where the registered debug tokens of an app are: its OAuth clients accept them, too.
final class ManagedTokenStore: Sendable {
    private struct Parsed {
        let bytes: [UInt8]
        let tokens: ManagedTokens
    }

    /// The most tokens that have not expired.
    let limit: Int
    /// What the document said when it was last read, so that it is parsed once.
    private let latest = Mutex<Parsed?>(nil)
    private let index = ManagedTokenIndex()
    private let guesses = GuessLimit()
    private let clock: HostClock

    init(limit: Int, clock: HostClock) {
        self.limit = limit
        self.clock = clock
    }

    /// The answer to a peer that sent too many unknown tokens.
    static func tooManyUnknown(wait: Duration?) -> CallFailure {
        CallFailure(
            .resourceExhausted, "Too many unknown debug tokens came from this address: try again later.",
            reason: DebugReasons.tooManyUnknown, retryAfter: wait)
    }

    /// The token with a hash; nil when it is unknown.
    ///
    /// An unknown token costs one lookup of a small entry.
    ///
    /// - Throws: `CallFailure` when the peer sent too many unknown tokens.
    func token(hash: [UInt8], _ context: ProviderContext) async throws -> ManagedToken? {
        let uptime = clock.uptime
        // A token that was registered here before is not a guess, whatever else comes from the same address.
        let isKnown = latest.withLock { $0?.tokens.token(hash: hash) != nil }
        if !isKnown, let wait = guesses.wait(context.peer, at: uptime) {
            throw Self.tooManyUnknown(wait: wait)
        }
        let token = try await find(hash, context, uptime)
        if token == nil { guesses.count(context.peer, at: uptime) }
        return token
    }

    private func find(_ hash: [UInt8], _ context: ProviderContext, _ uptime: Duration) async throws -> ManagedToken? {
        if try await index.has(hash, context) { return try await read(context).token(hash: hash) }
        switch index.absence(at: uptime) {
        case .certain: return nil
        case .toRead: return try await read(context).token(hash: hash)
        case .toCompare:
            return try await index.compare(context, at: uptime) { try await self.read(context) }.token(hash: hash)
        }
    }

    /// Registers a token.
    func add(_ token: ManagedToken, _ context: ProviderContext) async throws {
        try await update(context) { tokens in try tokens.add(token, limit: self.limit, now: context.now) }
        // If this fails, the comparison with the document corrects it.
        try await index.add(token.hash, context)
    }

    /// Removes the entry of a token that is no longer in the document.
    func forget(_ token: ManagedToken, _ context: ProviderContext) async {
        try? await index.remove(token.hash, context)
    }

    func read(_ context: ProviderContext) async throws -> ManagedTokens {
        let document = document(context)
        return try parse(try await document.read().value, of: document)
    }

    /// Changes them, whole or not at all, and returns what `change` does; it may be run more than once.
    func update<Value>(
        _ context: ProviderContext, _ change: (inout ManagedTokens) throws -> Value
    ) async throws -> Value {
        let document = document(context)
        return try await document.update(now: context.now) { bytes in
            let present = try self.parse(bytes, of: document)
            var tokens = present
            let value = try change(&tokens)
            return (tokens == present ? nil : tokens.encoded, value)
        }
    }

    private func document(_ context: ProviderContext) -> VersionedDocument {
        VersionedDocument(in: context.appState.subspace("managed"))
    }

    private func parse(
        _ bytes: [UInt8]?, of document: VersionedDocument
    ) throws(VersionedDocument.Damaged) -> ManagedTokens {
        guard let bytes else { return ManagedTokens() }
        if let parsed = latest.withLock({ $0 }), parsed.bytes == bytes { return parsed.tokens }
        let tokens = try ManagedTokens(decoding: bytes, of: document)
        latest.withLock { $0 = Parsed(bytes: bytes, tokens: tokens) }
        return tokens
    }
}
