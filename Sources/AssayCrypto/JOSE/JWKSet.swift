public import AssayCore

/// A set of public keys (RFC 7517, section 5), such as a JWKS document publishes.
public struct JWKSet: Sendable, Hashable {
    /// The most keys that a set may list, including skipped ones.
    public static let maximumCount = 64
    /// The most keys without a `kid` that are used of each algorithm.
    ///
    /// A token does not say which of them signed it, so that all of them must be tried.
    public static let maximumUnnamedCount = 4

    /// The keys that verify signatures, in the order of the document.
    ///
    /// Two of them may have one `kid` when their algorithms differ (RFC 7517, section 4.5); a token's `alg` chooses
    /// then.
    public let keys: [JWK]
    /// The keys of the document that cannot be used, in its order.
    public let skipped: [Skipped]

    /// A key of a document that cannot be used, and why.
    public struct Skipped: Sendable, Hashable, CustomStringConvertible {
        /// Its position in the document, from 0.
        public let index: Int
        /// Why it cannot be used, in words for an operator; nothing in it comes from the document.
        @Exact public private(set) var problem: String
        /// Whether it is left out because as many keys before it have no `kid`, and the same algorithm, as may have.
        public let isBeyondUnnamed: Bool

        init(index: Int, problem: String, isBeyondUnnamed: Bool = false) {
            self.index = index
            self.problem = problem
            self.isBeyondUnnamed = isBeyondUnnamed
        }

        /// The place in the set and the problem, for logs.
        public var description: String { "keys[\(index)]: \(problem)" }
    }

    /// A set of keys.
    public init(_ keys: [JWK]) {
        self.init(keys, skipped: [])
    }

    private init(_ keys: [JWK], skipped: [Skipped]) {
        self.keys = keys
        self.skipped = skipped
    }

    /// A set from a JWKS document.
    ///
    /// Keys that cannot be used are skipped (RFC 7517, section 5), so that one of them does not make the others
    /// useless: an unknown type, a point off its curve, a missing member, a private key, a key for encryption. Of two
    /// keys with one `kid` and one algorithm the first is used; of the keys of one algorithm without a `kid`, the first
    /// four.
    ///
    /// - Throws: ``JWKError``: `malformed` when the document is not a key set or lists more than 64 keys.
    public init(json bytes: some Collection<UInt8>) throws(JWKError) {
        let document: JSON
        do throws(JSONError) {
            // A repeated name makes its own key unusable, and no other.
            document = try JSON.parse(bytes, limits: JSON.Limits(depth: 8, allowsRepeatedNames: true))
        } catch {
            throw .malformed("\(error)")
        }
        let lists = (document.members ?? []).filter { $0.name.isExactly("keys") }
        guard lists.count == 1, let elements = lists.first?.value.array else { throw .malformed("no array of keys") }
        guard elements.count <= Self.maximumCount else { throw .malformed("more than \(Self.maximumCount) keys") }
        var keys: [JWK] = []
        var skipped: [Skipped] = []
        for (index, element) in elements.enumerated() {
            do throws(JWKError) {
                let key = try JWK(element)
                guard key.isForSignatures else { throw .notForVerification("its use is not sig") }
                guard !keys.contains(where: { $0.isNamedLike(key) }) else {
                    throw .malformed("an earlier key has its kid and its alg")
                }
                guard !key.keyID.isNil || keys.count(where: { $0.isUnnamedLike(key) }) < Self.maximumUnnamedCount else {
                    let algorithm = JWSAlgorithm(for: key.publicKey).rawValue
                    let problem = "more than \(Self.maximumUnnamedCount) keys for \(algorithm) have no kid"
                    skipped.append(Skipped(index: index, problem: problem, isBeyondUnnamed: true))
                    continue
                }
                keys.append(key)
            } catch {
                skipped.append(Skipped(index: index, problem: error.description))
            }
        }
        self.init(keys, skipped: skipped)
    }

    /// The first key with an identifier; nil when no key has it.
    public subscript(keyID: String) -> JWK? {
        keys.first { $0.keyID?.isExactly(keyID) ?? false }
    }

    /// The set as a JWKS document.
    public var json: JSON {
        .object(["keys": .array(keys.map(\.json))])
    }
}

extension JWK {
    /// Whether `use` is `sig` or absent.
    var isForSignatures: Bool { use?.isExactly("sig") ?? true }

    /// Whether a token that names one of two keys names the other, too.
    fileprivate func isNamedLike(_ other: JWK) -> Bool {
        guard let keyID, let otherID = other.keyID, keyID.isExactly(otherID) else { return false }
        return JWSAlgorithm(for: publicKey) == JWSAlgorithm(for: other.publicKey)
    }

    /// Whether a token that names no key may be signed by either key.
    fileprivate func isUnnamedLike(_ other: JWK) -> Bool {
        keyID.isNil && other.keyID.isNil && JWSAlgorithm(for: publicKey) == JWSAlgorithm(for: other.publicKey)
    }
}
