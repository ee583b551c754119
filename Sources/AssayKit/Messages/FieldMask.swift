/// Which fields an update is about (google.protobuf.FieldMask): paths in lowerCamelCase, with dots for what is nested.
public struct FieldMask: Sendable, Hashable {
    /// The paths, each once, in the order given; `*` stands for all.
    public let paths: [String]

    /// - Parameter text: paths with commas between them, each in lowerCamelCase or snake_case.
    /// - Throws: ``InvalidRequest`` for what is no list of 1 to 64 such paths.
    public init(_ text: String) throws(InvalidRequest) {
        var paths: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let path = FieldMask.camelCase(part.utf8)
            guard !part.isEmpty, let path, paths.count < 64 else {
                throw InvalidRequest("the field mask is not a list of field names with commas between them")
            }
            if !paths.contains(path) { paths.append(path) }
        }
        self.paths = paths
    }

    /// Whether a field is among them, as itself or within one that is.
    public func contains(_ path: String) -> Bool {
        paths.contains { $0 == "*" || $0 == path || path.hasPrefix("\($0).") }
    }

    /// The paths that are none of some known ones: neither one of them, nor a part or a whole of one.
    public func unknown(among known: [String]) -> [String] {
        paths.filter { path in
            path != "*" && !known.contains { $0 == path || $0.hasPrefix("\(path).") || path.hasPrefix("\($0).") }
        }
    }

    private static func camelCase(_ bytes: Substring.UTF8View) -> String? {
        var name = ""
        var raises = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "_"): raises = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                name.unicodeScalars.append(Unicode.Scalar(raises ? byte & 0xDF : byte))
                raises = false
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "*"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
                raises = false
            default: return nil
            }
        }
        return name
    }
}
