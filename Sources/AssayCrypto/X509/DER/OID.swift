/// An ASN.1 OBJECT IDENTIFIER, compared by its encoded content.
public struct OID: Sendable, Hashable, CustomStringConvertible {
    /// The content octets (X.690, section 8.19): at most 64, known to be well formed.
    public let content: ArraySlice<UInt8>

    /// Reads the content octets of an element.
    ///
    /// - Throws: ``ASN1Error`` unless each arc is finished and in its shortest form, and for more than 64 octets.
    public init(content: ArraySlice<UInt8>) throws(ASN1Error) {
        guard content.count <= 64, let last = content.last, last & 0x80 == 0 else {
            throw ASN1Error(.objectIdentifierMalformed, at: content.startIndex)
        }
        var startsArc = true
        for byte in content {
            guard !(startsArc && byte == 0x80) else {
                throw ASN1Error(.objectIdentifierMalformed, at: content.startIndex)
            }
            startsArc = byte & 0x80 == 0
        }
        self.content = content
    }

    /// An identifier that is written in source code, such as `OID(2, 5, 29, 19)`.
    ///
    /// - Parameter arcs: At least two. The first is at most 2; after 0 and 1, the second is below 40.
    public init(_ arcs: UInt32...) {
        var octets: [UInt8] = []
        let leading = arcs.prefix(2).reduce(UInt32(0)) { $0 &* 40 &+ $1 }
        for arc in [leading] + arcs.dropFirst(2) {
            var groups = [UInt8(truncatingIfNeeded: arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
                rest >>= 7
            }
            octets += groups.reversed()
        }
        content = octets[...]
    }

    /// The arcs, joined by dots; arcs above 64 bits are not distinguished.
    public var description: String {
        var arcs: [UInt64] = []
        var arc: UInt64 = 0
        for byte in content {
            arc = arc << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            if arcs.isEmpty {
                let first = min(arc / 40, 2)
                arcs = [first, arc - first * 40]
            } else {
                arcs.append(arc)
            }
            arc = 0
        }
        return arcs.map(String.init).joined(separator: ".")
    }
}
