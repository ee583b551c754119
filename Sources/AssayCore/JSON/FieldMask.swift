/// The fields that an update changes (google.protobuf.FieldMask): paths in lowerCamelCase, with dots for nested fields.
public struct FieldMask: Sendable, Hashable {
    /// The paths, each once, in the order given; `*` stands for all.
    @Exact public private(set) var paths: [String]

    /// - Parameter text: paths with commas between them, each in lowerCamelCase or snake_case.
    /// - Throws: ``InvalidRequest`` unless the text is a list of 1 to 64 such paths.
    public init(_ text: String) throws(InvalidRequest) {
        var paths: [String] = []
        guard text.utf8.count <= FieldMask.byteLimit else {
            throw InvalidRequest("the field mask is too large: \(FieldMask.byteLimit) bytes at most")
        }
        for part in text.split(onASCII: ",") {
            let path = FieldMask.camelCase(part.utf8)
            guard !part.isEmpty, let path, paths.count < 64 else {
                throw InvalidRequest("the field mask is not a list of field names with commas between them")
            }
            if !paths.contains(exactly: path) { paths.append(path) }
        }
        self.paths = paths
    }

    /// Whether the mask is `*` alone.
    public var isEverything: Bool { paths.count == 1 && paths[0].isExactly("*") }

    /// Whether a field is among them, directly or inside another one.
    public func contains(_ path: String) -> Bool {
        paths.contains { $0.isExactly("*") || FieldMask.isWithin(path, $0) }
    }

    /// The paths that are unrelated to all of some known paths: not equal, not within one, and not around one.
    public func unknown(among known: [String]) -> [String] {
        paths.filter { path in
            !path.isExactly("*") && !known.contains { FieldMask.isWithin($0, path) || FieldMask.isWithin(path, $0) }
        }
    }

    /// The longest text that is looked at.
    private static let byteLimit = 8192

    /// Whether a field equals another one or is within it.
    private static func isWithin(_ path: String, _ other: String) -> Bool {
        path.starts(withExactly: other)
            && (path.utf8.count == other.utf8.count
                || path.utf8.dropFirst(other.utf8.count).first == UInt8(ascii: "."))
    }

    private static func camelCase(_ bytes: Substring.UTF8View) -> String? {
        var name = ""
        var raises = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "_"): raises = true
            case _ where byte.isASCIILowercase:
                name.unicodeScalars.append(Unicode.Scalar(raises ? byte.uppercasedASCII : byte))
                raises = false
            case _ where byte.isASCIILetterOrDigit, UInt8(ascii: "."), UInt8(ascii: "*"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
                raises = false
            default: return nil
            }
        }
        return name
    }
}
