internal import AssayKit

/// What a client asked a backend for, read so that the backend cannot read it otherwise.
enum RequestTarget: Sendable, Equatable {
    /// Nothing depends on it.
    case irrelevant
    /// A method and a path with its escapes decoded.
    case clear(method: String, path: [UInt8])
    case missing
    case ambiguous

    /// - Parameter uri: a path with or without a query.
    init(_ method: String, _ uri: String) {
        guard uri.utf8.count <= 8192, uri.utf8.first == UInt8(ascii: "/"), !method.isEmpty else {
            self = .ambiguous
            return
        }
        var path: [UInt8] = []
        var rest = uri.utf8.prefix { $0 != UInt8(ascii: "?") }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    let decoded = Hex.decode(String(decoding: [high, low], as: UTF8.self))?.first,
                    // What is a separator to one and a letter to another.
                    decoded > 0x20, decoded != 0x7F, !"/\\%;?#".utf8.contains(decoded)
                else {
                    self = .ambiguous
                    return
                }
                path.append(decoded)
            // Some cut a path at a semicolon or a `#`, and some take a backslash for a slash.
            case 0...0x20, 0x7F..., UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "#"):
                self = .ambiguous
                return
            default: path.append(byte)
            }
        }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // Some take these out, and some do not. An empty last one is a slash at the end.
        let isPlain = segments.enumerated().allSatisfy { index, segment in
            (!segment.isEmpty || index == segments.count - 1)
                && segment != [UInt8(ascii: ".")][...] && segment != Array("..".utf8)[...]
        }
        self = isPlain ? .clear(method: method.uppercased(), path: path) : .ambiguous
    }

    /// Why a request cannot be judged; nil when it can.
    var problem: Reason? {
        switch self {
        case .irrelevant, .clear: nil
        case .missing: CustomBackendReasons.targetMissing
        case .ambiguous: CustomBackendReasons.targetAmbiguous
        }
    }
}
