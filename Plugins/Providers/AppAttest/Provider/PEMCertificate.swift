internal import AssayKit

/// One certificate in textual encoding (RFC 7468, section 5).
enum PEMCertificate {
    /// The DER of the only certificate of a text; nil for anything else.
    static func decode(_ text: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { line in line.drop { $0 == " " || $0 == "\t" } }
            .map { line in String(line.reversed().drop { $0 == " " || $0 == "\t" }.reversed()) }
            .filter { !$0.isEmpty }
        guard lines.count >= 3, lines.count <= 200, lines.first == "-----BEGIN CERTIFICATE-----",
            lines.last == "-----END CERTIFICATE-----"
        else { return nil }
        return Base64.decode(lines.dropFirst().dropLast().joined())
    }
}
