package import AssayCore
internal import AssayCrypto
internal import AssayKit

/// A short digest of what identifies the attester of some evidence, such as its key: tokens carry it, hidden, so that those of a
/// denied key can be recognised.
package struct AttesterTag: Sendable, Hashable {
    /// How many bytes it has.
    package static let byteCount = 8

    package let bytes: [UInt8]

    /// A tag from a token; nil unless it has the right length.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The tag of a fact that identifies the attester; nil for all other facts.
    package init?(_ name: FactName, _ value: Fact.Value) {
        guard name.identifiesAttester, case .text(let text)? = ComparableFact(value, name.type) else { return nil }
        self.init(name.text, text)
    }

    init(_ name: String, _ text: ExactText) {
        let name = Array(name.utf8)
        let digest = SHA256.hash(UInt64(name.count).bigEndianBytes[...], name[...], Array(text.string.utf8)[...])
        bytes = Array(digest.prefix(Self.byteCount))
    }

    /// The tag of the first fact that identifies the attester; nil when none does.
    package static func first(of facts: [Fact]) -> AttesterTag? {
        for fact in facts {
            if let tag = AttesterTag(fact.name, fact.value) { return tag }
        }
        return nil
    }
}
