public import AssayKit

/// What a state store says of itself.
public struct StateDescription: Sendable, Equatable {
    /// Since when it remembers everything that was used; nil where it has never been served, or since a version up to 0.2.
    public let completeSince: Instant?
    /// When it was copied (RFC 3339), where nobody has served the copy; nil otherwise.
    @Exact public private(set) var copied: String?

    /// Reads it; changes nothing.
    ///
    /// - Throws: what the store throws; ``KeyError`` when what is written there is damaged.
    public init(of store: any StateStore) async throws {
        let found = try await StateHistory.description(of: store)
        completeSince = found.beginning.flatMap { $0.milliseconds == 0 ? nil : $0 }
        copied = found.copied
    }
}
