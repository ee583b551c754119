import AssayCore
import AssayKit

extension RawSocket {
    /// A reply as it came over the wire.
    struct Reply: Sendable {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]

        /// A whole reply at the beginning of some bytes, and how many it takes; nil when there is more to come.
        static func parse(_ bytes: [UInt8], hasBody: Bool) -> (Reply, Int)? {
            let end = Array("\r\n\r\n".utf8)
            guard let head = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
            var lines = String(decoding: bytes[..<head], as: UTF8.self).split(separator: "\r\n")
            let words = lines.removeFirst().split(separator: " ")
            guard words.count >= 2, let status = Int(words[1]) else { return nil }
            var headers: [String: String] = [:]
            for line in lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " }) }
            }
            let start = head + end.count
            let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
            guard bytes.count >= start + length else { return nil }
            return (Reply(status: status, headers: headers, body: Array(bytes[start..<start + length])), start + length)
        }
    }
}
