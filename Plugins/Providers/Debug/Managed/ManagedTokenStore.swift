internal import AssayKit
internal import Synchronization

/// Where the registered debug tokens of an app are: its OAuth clients accept them, too.
final class ManagedTokenStore: Sendable {
    private struct Parsed {
        let bytes: [UInt8]
        let tokens: ManagedTokens
    }

    /// How many of them there may be that have not expired.
    let limit: Int
    /// What the document said when it was last read, so that strangers' tokens cost one look at the store and no parsing.
    private let latest = Mutex<Parsed?>(nil)

    init(limit: Int) {
        self.limit = limit
    }

    func read(_ context: Context) async throws -> ManagedTokens {
        let document = document(context)
        return try parse(try await document.read().value, of: document)
    }

    /// Changes them, whole or not at all, and returns what `change` does; it may be run more than once.
    func update<Value>(
        _ context: Context, _ change: (inout ManagedTokens) throws -> Value
    ) async throws -> Value {
        let document = document(context)
        return try await document.update(now: context.now) { bytes in
            let present = try self.parse(bytes, of: document)
            var tokens = present
            let value = try change(&tokens)
            return (tokens == present ? nil : tokens.encoded, value)
        }
    }

    private func document(_ context: Context) -> VersionedDocument {
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
