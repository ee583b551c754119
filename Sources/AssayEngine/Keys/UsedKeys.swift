package import AssayCore
internal import AssayCrypto
public import AssayKit

/// The keys that a state store remembers it was used with, so that their loss is noticed.
///
/// Without the keys the service would make new ones and refuse every device that was attested before. The engine
/// compares the keys before its first decision, and after each change of them. A program that should not start in this
/// case checks them (`AssayServices`) before it makes an engine, and so before new keys are made.
///
/// A key is remembered by its identifier and a digest that reveals nothing of it: a sealing key forever, a signing key
/// until its publication has ended, and one that was revoked forever, so that no older copy of the keys brings it back.
public struct UsedKeys: Sendable {
    private let store: any StateStore

    private static let space = "keys"

    package init(_ store: any StateStore) {
        self.store = store
    }

    /// Has a state remember keys no more: they are lost permanently.
    ///
    /// - Throws: the error of the store.
    public static func forget(_ ids: [String], in store: any StateStore) async throws {
        for id in ids {
            for kind in Kind.allCases {
                try await store.put(StateKey(space, "\(kind.rawValue)/\(id)"), value: nil, expires: nil)
            }
        }
    }

    /// When the oldest key was made.
    package static func oldest(of ring: KeyRing) -> Instant? { Used.all(of: ring).map(\.created).min() }

    /// Throws when keys are missing, and remembers new ones.
    package func confirm(_ ring: KeyRing, now: Instant) async throws {
        let known = try await check(ring, now: now)
        for key in Used.all(of: ring) where known[key.name] != key {
            try await store.put(
                StateKey(Self.space, key.name), value: key.value.encoded, expires: key.forgetAt)
        }
    }

    /// - Parameters:
    ///   - ring: nil when there are no keys.
    ///   - place: where the ring is, for errors; nil for one that is in use.
    ///   - forgetting: the keys that may be missing.
    ///   - elsewhere: what an operator names the keys by that the state itself has, if others were looked at.
    @discardableResult
    package func check(
        _ ring: KeyRing?, in place: String? = nil, forgetting: [String] = [], now: Instant,
        elsewhere: () async throws -> String? = { nil }
    ) async throws -> [ExactText: Used] {
        let known = try await store.list(Self.space, after: nil, limit: 10_000).map { entry in
            guard let key = Used(entry) else {
                throw KeyError("the entry about '\(SafeText.of(entry.name, limit: 40))' in the state is damaged")
            }
            return key
        }
        if let key = Self.revived(known, in: ring), let revoked = key.revoked {
            throw KeyError(
                "the keys are of an older copy: the \(key.kind.rawValue) key \(key.id) was revoked at \(revoked), and "
                    + "\(place ?? "the key store") has it in force again. Restore the newer copy, or revoke the key again"
            )
        }
        let missing = Self.missing(known, in: ring, now: now).filter { !forgetting.contains(exactly: $0.id) }
        guard missing.isEmpty else {
            throw Self.lost(missing, place: place, elsewhere: try await elsewhere())
        }
        return Dictionary(known.map { (ExactText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The keys that are still needed and that a ring lacks.
    ///
    /// - Parameter ring: nil when there are no keys.
    package static func missing(_ known: [Used], in ring: KeyRing?, now: Instant) -> [Used] {
        let present = ring.map(Used.all) ?? []
        return known.filter { key in
            key.revoked == nil && !present.contains { $0.isSame(as: key) }
                && !(ring?.hasReplaced(key, now: now) ?? false)
        }
    }

    /// The first key that was revoked, and is not revoked in a ring that has it: the ring is an older copy.
    package static func revived(_ known: some Sequence<Used>, in ring: KeyRing?) -> Used? {
        let present = ring.map(Used.all) ?? []
        return known.first { key in key.revoked != nil && present.contains { $0.isSame(as: key) && $0.revoked == nil } }
    }

    private static func lost(_ keys: [Used], place: String?, elsewhere: String?) -> KeyError {
        let names = keys.prefix(8).map { "the \($0.kind.rawValue) key \($0.id)" }.joined(separator: ", ")
        let more = keys.count > 8 ? " and \(keys.count - 8) more" : ""
        let isSealing = keys.contains { $0.kind == .sealing }
        let harm =
            isSealing
            ? "no artifact that it sealed can be opened: devices that were attested would be refused forever"
            : "no token that it signed can be verified"
        let options = keys.prefix(8).map { "--forget-key \($0.id)" }.joined(separator: " ")
        let beginning =
            "the state was used with \(names)\(more), and \(place ?? "the key store") lacks \(keys.count == 1 ? "it" : "them")"
        // The servers that use the state's own keys would not start any more after the others were forgotten.
        if let elsewhere {
            return KeyError(
                "these are not the keys of this state: \(beginning). The state has keys of its own: name their master key with "
                    + "--keys \(elsewhere), as on the servers that use them")
        }
        return KeyError(
            "keys are lost: \(beginning). Without a key \(harm). Restore keys.json from a backup, or name the folder that it is "
                + "in with --keys. To continue without for good: \(options)")
    }

    package enum Kind: String, CaseIterable {
        case signing
        case sealing
    }

    /// A key in the state's memory.
    package struct Used: Equatable {
        package let kind: Kind
        @Exact package private(set) var id: String
        /// SHA-256 of a value that can be derived only from the key.
        let digest: [UInt8]
        let created: Instant
        /// The time from which the key is no longer needed; nil while that is not known.
        let forgetAt: Instant?
        /// When it was revoked.
        let revoked: Instant?

        /// The name of its entry.
        var name: String { "\(kind.rawValue)/\(id)" }

        var value: JSON {
            .object(
                [
                    JSONMember("created", .integer(created.milliseconds)),
                    JSONMember("digest", .string(Base64.encode(digest))),
                ] + (revoked.map { [JSONMember("revoked", .integer($0.milliseconds))] } ?? []))
        }

        init(
            kind: Kind, id: String, digest: [UInt8], created: Instant, forgetAt: Instant?, revoked: Instant? = nil
        ) {
            self.kind = kind
            self.digest = digest
            self.created = created
            self.forgetAt = forgetAt
            self.revoked = revoked
            self.id = id
        }

        /// Nil for an entry that this program does not write.
        init?(_ entry: StateEntry) {
            let parts = entry.name.split(onASCII: "/", maxSplits: 1)
            guard parts.count == 2, let kind = Kind.allCases.first(where: { $0.rawValue.isExactly(String(parts[0])) }),
                let value = try? JSON.parse(entry.value), let created = value["created"]?.integer,
                let digest = value["digest"]?.string.flatMap({ Base64.decode($0) })
            else { return nil }
            self.init(
                kind: kind, id: String(parts[1]), digest: digest, created: Instant(milliseconds: created),
                forgetAt: entry.expires, revoked: value["revoked"]?.integer.map { Instant(milliseconds: $0) })
        }

        package static func all(of ring: KeyRing) -> [Used] {
            ring.signing.indices.map { index in
                let key = ring.signing[index]
                return Used(
                    kind: .signing, id: key.id, digest: Base64.decode(key.jwk.thumbprint) ?? [],
                    created: key.times.created,
                    forgetAt: key.times.revoked == nil ? ring.publicationEnd(of: index) : nil,
                    revoked: key.times.revoked)
            }
                + ring.sealing.map { key in
                    Used(
                        kind: .sealing, id: Hex.encode(key.id), digest: key.digest, created: key.times.created,
                        forgetAt: nil, revoked: key.times.revoked)
                }
        }

        func isSame(as other: Used) -> Bool {
            kind == other.kind && id.isExactly(other.id) && digest == other.digest
        }
    }
}

extension KeyRing {
    /// Whether a key may be missing because it is no longer needed: a newer one has signed for longer than it was
    /// published.
    fileprivate func hasReplaced(_ key: UsedKeys.Used, now: Instant) -> Bool {
        guard key.kind == .signing else { return false }
        return signing.contains { present in
            present.times.created > key.created
                && (present.times.begins.map { $0 + KeyRing.publication <= now } ?? false)
        }
    }
}
