internal import AssayCore

/// The path of a request target, split and decoded (RFC 3986, sections 2.1 and 3.3; RFC 9112, section 3.2).
struct RequestPath: Sendable, Hashable {
    /// A target that no client should send: a broken escape, a control character, or text that is not UTF-8.
    struct Malformed: Error {}

    /// More segments than any route has: enough to know that nothing matches.
    static let segmentLimit = 16

    /// The segments, decoded after the path was split; nil when the target has no path that could be routed.
    let segments: [[UInt8]]?

    /// - Parameter target: as in the request line: origin form or absolute form, with or without a query.
    init(_ target: String) throws(Malformed) {
        var bytes = Array(target.utf8)[...]
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw Malformed() }
        if bytes.first != UInt8(ascii: "/") {
            guard let path = RequestPath.afterAuthority(bytes) else {
                segments = nil
                return
            }
            bytes = path
        }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }.dropFirst()
        let parts = path.split(
            separator: UInt8(ascii: "/"), maxSplits: RequestPath.segmentLimit, omittingEmptySubsequences: false)
        var segments: [[UInt8]] = []
        for part in parts { segments.append(try RequestPath.decoded(part)) }
        self.segments = segments.count > RequestPath.segmentLimit ? nil : segments
    }

    /// The host and the port in a target that is a URL; nil for a path.
    static func authority(of target: String) -> Substring.UTF8View? {
        let bytes = target.utf8
        guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        return rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }

    /// The part after `http://authority` or `https://authority`: servers must accept that form too.
    private static func afterAuthority(_ target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for scheme in ["http://", "https://"]
        where target.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 | 0x20 }) {
            let rest = target.dropFirst(scheme.utf8.count)
            return rest.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] }
        }
        return nil
    }

    private static func decoded(_ part: ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
        var segment: [UInt8] = []
        segment.reserveCapacity(part.count)
        let isWhole = PercentCoding.decode(part) { byte, isEscaped in
            guard !isEscaped || (byte >= 0x20 && byte != 0x7F) else { return false }
            segment.append(byte)
            return true
        }
        guard isWhole else { throw Malformed() }
        guard !String(validating: segment, as: UTF8.self).isNil else { throw Malformed() }
        return segment
    }
}
