internal import AssayKit

/// One certificate in textual encoding (RFC 7468, section 5).
enum PEMCertificate {
    /// The DER of the only certificate of a text; nil for anything else.
    static func decode(_ text: String) -> [UInt8]? {
        let lines = text.unicodeScalars.split { $0.properties.isWhitespace && $0 != " " && $0 != "\t" }
            .map { Substring($0).trimmedASCII }.filter { !$0.isEmpty }
        guard lines.count >= 3, lines.count <= 200, lines[0].isExactly("-----BEGIN CERTIFICATE-----"),
            lines[lines.count - 1].isExactly("-----END CERTIFICATE-----")
        else { return nil }
        return Base64.decode(lines.dropFirst().dropLast().joined())
    }
}
