public import AssayKit

/// A set of public keys (RFC 7517, section 5), such as a JWKS document publishes.
public struct JWKSet: Sendable, Hashable {
    /// The most keys that a set may list, those that are skipped included.
    public static let maximumCount = 64

    /// The keys, in the order of the document.
    public let keys: [JWK]

    /// A set of keys.
    public init(_ keys: [JWK]) {
        self.keys = keys
    }

    /// A set from a JWKS document.
    ///
    /// Keys of a type, curve or algorithm that is not used here are skipped, as RFC 7517 asks.
    ///
    /// - Throws: ``JWKError``: `malformed` when the document is no such set, lists more than 64 keys, or has two keys
    ///   with one `kid`; whatever is wrong with a key of a known type.
    public init(json bytes: some Collection<UInt8>) throws(JWKError) {
        let document: JSON
        do throws(JSONError) {
            document = try JSON.parse(bytes, limits: JSON.Limits(depth: 8, allowsRepeatedNames: false))
        } catch {
            throw .malformed("\(error)")
        }
        guard let elements = document["keys"]?.array else { throw .malformed("no array of keys") }
        guard elements.count <= Self.maximumCount else { throw .malformed("more than \(Self.maximumCount) keys") }
        var keys: [JWK] = []
        for element in elements {
            do throws(JWKError) {
                keys.append(try JWK(element))
            } catch {
                guard case .unsupported = error else { throw error }
            }
        }
        let identifiers = keys.compactMap(\.keyID)
        guard Set(identifiers).count == identifiers.count else { throw .malformed("two keys with one kid") }
        self.init(keys)
    }

    /// The key with an identifier; nil when there is none.
    public subscript(keyID: String) -> JWK? {
        keys.first { $0.keyID == keyID }
    }

    /// The set as a JWKS document.
    public var json: JSON {
        .object(["keys": .array(keys.map(\.json))])
    }
}
