internal import AssayKit

/// Writes PEM blocks (RFC 7468).
enum PEMWriter {
    /// A block with lines of 64 characters and a final line break.
    static func block(_ label: String, _ der: [UInt8]) -> String {
        let text = Array(Base64.encode(der).utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
