internal import AssayCore
internal import AssayKit

/// The debug tokens that administrators registered for one app: one document of the state store, so that their number and
/// their being different are seen to by the same write that adds one.
struct ManagedTokens: Sendable, Equatable {
    private var byID: [ExactText: ManagedToken] = [:]
    private var identifiers: [[UInt8]: ExactText] = [:]

    init() {}

    func token(hash: [UInt8]) -> ManagedToken? { identifiers[hash].flatMap { byID[$0] } }

    func token(id: String) -> ManagedToken? { byID[id] }

    var hashes: [[UInt8]] { Array(identifiers.keys) }

    var views: [DebugTokenView] { byID.values.map(\.view) }

    /// Adds a token, and removes those that have expired.
    mutating func add(_ token: ManagedToken, limit: Int, now: Instant) throws(CallFailure) {
        for expired in byID.values where expired.isExpired(at: now) { remove(expired) }
        guard identifiers[token.hash] == nil else {
            throw CallFailure(.alreadyExists, "The debug token is registered already.")
        }
        guard byID.count < limit else {
            throw CallFailure(.resourceExhausted, "The app's policy allows \(limit) registered debug tokens at most.")
        }
        put(token)
    }

    /// Puts a token in the place of the one with the same identifier.
    mutating func put(_ token: ManagedToken) {
        byID[token.id] = token
        identifiers[token.hash] = ExactText(token.id)
    }

    mutating func remove(_ token: ManagedToken) {
        byID[token.id] = nil
        identifiers[token.hash] = nil
    }
}

extension ManagedTokens {
    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 4, values: 16_384, allowsRepeatedNames: false)

    var encoded: [UInt8] {
        let tokens = byID.values.sorted { $0.id.precedesExactly($1.id) }.map { token -> JSON in
            [
                "id": .string(token.id), "name": .string(token.displayName),
                "sha256": .string(Base64.encodeURL(token.hash)),
                "expires": token.expires.map { .integer($0.milliseconds) } ?? .null,
                "updated": .integer(token.updated.milliseconds),
            ]
        }
        return JSON.object(["version": 1, "tokens": .array(tokens)]).encoded
    }

    /// - Throws: when the bytes are not what ``encoded`` makes.
    init(decoding bytes: [UInt8], of document: VersionedDocument) throws(VersionedDocument.Damaged) {
        guard let json = try? JSON.parse(bytes, limits: ManagedTokens.limits), json["version"] == 1,
            let tokens = json["tokens"]?.array
        else { throw document.damaged }
        for entry in tokens {
            guard let id = entry["id"]?.string, let name = entry["name"]?.string,
                let hash = entry["sha256"]?.string.flatMap({ Base64.decode($0) }), hash.count == 32,
                let updated = entry["updated"]?.integer, let expires = entry["expires"],
                expires == .null || expires.integer != nil
            else { throw document.damaged }
            put(
                ManagedToken(
                    id: id, displayName: name, hash: hash,
                    expires: expires.integer.map { Instant(milliseconds: $0) },
                    updated: Instant(milliseconds: updated)))
        }
    }
}

/// A debug token that an administrator registered.
struct ManagedToken: Sendable, Hashable {
    /// A UUID that the server made.
    @Exact private(set) var id: String
    @Exact var displayName: String
    /// The SHA-256 of the token's text in lower case.
    let hash: [UInt8]
    let expires: Instant?
    var updated: Instant

    /// The longest name, in bytes.
    static let nameLimit = 256

    var view: DebugTokenView {
        DebugTokenView(id: id, displayName: displayName, expires: expires, updated: updated)
    }

    func isExpired(at now: Instant) -> Bool {
        expires.map { now >= $0 } ?? false
    }
}
