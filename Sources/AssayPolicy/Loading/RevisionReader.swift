internal import AssayCore
internal import AssayCrypto
internal import AssayYAML

/// Finds the revision of a policy set: a hash over its files, and the label that one of them states.
struct RevisionReader {
    private static let digits = 16

    private var label: (text: String, location: SourceLocation)?
    private let hash: String

    /// The hash depends on the names of the files, not on their folder: servers with the same files have the same revision.
    init(_ files: [PolicyFile]) {
        var digest = SHA256()
        for file in files {
            let name = Array((file.name.split(onASCII: "/").last.map(String.init) ?? file.name).utf8)
            for part in [name, file.bytes] {
                digest.update(UInt64(part.count).bigEndianBytes)
                digest.update(part)
            }
        }
        hash = String(Hex.encode(digest.finalize()).prefix(Self.digits))
    }

    var revision: PolicyRevision { PolicyRevision(hash: hash, label: label?.text) }

    /// Takes the label of a file.
    mutating func take(_ text: String, at value: YAMLValue) {
        if let label {
            value.report(
                "the key `\(RootSection.CodingKeys.revision.stringValue)` is in more than one place",
                related: [.init(location: label.location, message: "first here")])
            return
        }
        label = (text, value.location)
    }
}
