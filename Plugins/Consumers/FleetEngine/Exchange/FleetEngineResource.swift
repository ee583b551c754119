internal import AssayCore

/// An entity by the URI of its resource: `https://fleetengine.googleapis.com/v1/providers/PROVIDER/vehicles/ID`.
struct FleetEngineResource: Sendable, Hashable {
    let entity: FleetEngineEntity
    let id: FleetEngineID

    /// Longer URIs are of no entity.
    private static let lengthLimit = 2048

    /// Nil for a URI that is not an entity's, has a query or a fragment, or is of another provider.
    ///
    /// - Parameter bases: what such URIs begin with, up to the slash before `v1`.
    init?(_ uri: String, provider: String, bases: [String]) {
        guard uri.utf8.count <= Self.lengthLimit, uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let base = bases.first(where: { uri.starts(withExactly: $0) })
        else { return nil }
        let parts = Substring(uri.utf8.dropFirst(base.utf8.count)).split(onASCII: "/", maxSplits: 5)
        guard parts.count == 5, parts[0].isExactly("v1"), parts[1].isExactly("providers"),
            Self.decoded(parts[2]).isExactly(provider),
            let entity = FleetEngineEntity.allCases.first(where: { $0.collection.isExactly(parts[3]) }),
            let id = Self.decoded(parts[4]).flatMap({ FleetEngineID($0) })
        else { return nil }
        self.entity = entity
        self.id = id
    }

    /// A segment of a path without its escapes (RFC 3986, section 2.1); nil for an invalid escape, or when the bytes
    /// are not text.
    private static func decoded(_ segment: Substring) -> String? {
        var bytes: [UInt8] = []
        let isWhole = PercentCoding.decode(segment.utf8) { byte, isEscaped in
            // They end a path.
            guard isEscaped || (byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")) else { return false }
            bytes.append(byte)
            return true
        }
        guard isWhole else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
