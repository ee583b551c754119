internal import AssayCore
internal import AssayKit

/// The keys of the store in the server.
///
/// | key | holds |
/// |---|---|
/// | `assay:e:SPACE:{NAME}` | an entry |
/// | `assay:c:SPACE:{NAME}` | a counter |
/// | `assay:l:SPACE` | the names of the listed entries of a space: a sorted set whose scores are 0 |
/// | `assay:id`, `assay:id:{TAG}` | the identity of the data; in a cluster one for each server |
///
/// In a cluster the name decides the slot. Of a space's name, what has a meaning in keys is escaped; the first brace is
/// therefore the one before the entry's name.
struct Keys: Sendable {
    @Exact private(set) var prefix: String

    init(prefix: String) { self.prefix = prefix }

    /// What the keys of the entries of a space begin with; the name and a brace follow.
    func entries(_ space: String) -> [UInt8] { begin("e", space) + Array(":{".utf8) }

    func entry(_ key: StateKey) -> [UInt8] { entries(key.space) + Array(key.name.utf8) + [UInt8(ascii: "}")] }

    func counter(_ key: StateKey) -> [UInt8] {
        begin("c", key.space) + Array(":{".utf8) + Array(key.name.utf8) + [UInt8(ascii: "}")]
    }

    func index(_ space: String) -> [UInt8] { begin("l", space) }

    /// The identity of the data, in the slot of a tag; nil outside of a cluster.
    func identity(tag: String?) -> [UInt8] { Array("\(prefix):id\(tag.map { ":{\($0)}" } ?? "")".utf8) }

    func trial(tag: String?) -> [UInt8] { Array("\(prefix):try\(tag.map { ":{\($0)}" } ?? "")".utf8) }

    private func begin(_ kind: String, _ space: String) -> [UInt8] {
        Array("\(prefix):\(kind):".utf8)
            + space.utf8.flatMap { byte in
                "%{}:".utf8.contains(byte) ? PercentCoding.encode(byte) : [byte]
            }
    }
}
