internal import AssayCore
internal import AssayCrypto
internal import AssayYAML

/// Finds the revision of a policy set: a hash over its files, and the label that one of them states.
struct RevisionReader {
    /// The key of the root with the operator's label.
    static let key = "revision"
    private static let digits = 16
    private static let labelLimit = 64

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

    /// Takes the label of a file, where it has one.
    mutating func read(_ file: YAMLMapping) {
        guard let value = file.optional(Self.key), let text = value.decode(String.self) else { return }
        guard (1...Self.labelLimit).contains(text.utf8.count), text.utf8.allSatisfy(Self.isOfLabel) else {
            value.report("a label is 1 to \(Self.labelLimit) letters, digits and `-._:/+`")
            return
        }
        if let label {
            value.report(
                "the key `\(Self.key)` is in more than one place",
                related: [.init(location: label.location, message: "first here")])
            return
        }
        label = (text, value.location)
    }

    private static func isOfLabel(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._:/+".utf8.contains(byte)
    }
}
