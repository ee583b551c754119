/// Reads a policy file into located values.
package enum YAMLDocument {
    /// The value of a file that holds exactly one YAML document; an empty file is an empty mapping.
    ///
    /// Refused, with the place: syntax errors, bytes that are not UTF-8, duplicate keys, keys that are not scalars,
    /// explicit tags, merge keys (`<<`), more than one document, many directives, and whatever exceeds the limits. Anchors and aliases
    /// are allowed; the values that an alias repeats count like any others.
    package static func parse(
        _ bytes: [UInt8], file: String, limits: YAMLLimits = .default
    ) throws(Diagnostics) -> YAMLNode {
        // The source of a file that is too long stays empty: a caret line is not worth keeping it.
        let isTooLong = bytes.count > limits.bytes
        let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let text = isTooLong ? [] : isMarked ? Array(bytes.dropFirst(3)) : bytes
        let source = YAMLSource(file: file, bytes: text)
        guard !isTooLong else {
            throw refusal(source, .start, "the file has \(bytes.count) bytes, more than the \(limits.bytes) allowed")
        }
        if let offset = firstInvalidByte(of: text) {
            let hint = isUTF16(text) ? "save the file as UTF-8" : nil
            throw refusal(source, source.position(ofByte: offset), "not UTF-8 text", hint: hint)
        }
        if let offset = firstExcessiveDirective(of: text) {
            throw refusal(
                source, source.position(ofByte: offset), "more than \(mostDirectives) lines that begin with `%`")
        }
        return try text.withUnsafeBufferPointer { (buffer) throws(Diagnostics) -> YAMLNode in
            var builder = TreeBuilder(source: source, limits: limits)
            let parser = try EventParser(buffer, source: source)
            return try builder.build(from: parser)
        }
    }

    private static func firstInvalidByte(of text: [UInt8]) -> Int? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: text.span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    /// A policy needs no directive at all. libyaml compares each `%TAG` with all before it, which takes hours for the
    /// million that a file may hold.
    private static let mostDirectives = 100

    /// The first byte of the line that is one directive too many, by YAML 1.1's line ends; nil when there is none.
    private static func firstExcessiveDirective(of text: [UInt8]) -> Int? {
        text.withUnsafeBufferPointer { text in
            var count = 0
            var startsLine = true
            for (offset, byte) in text.enumerated() {
                if startsLine, byte == UInt8(ascii: "%") {
                    count += 1
                    if count > mostDirectives { return offset }
                }
                // LF, CR, and the last bytes of NEL, LS and PS; to count other characters too does no harm.
                startsLine = byte == 0x0A || byte == 0x0D || byte == 0x85 || byte == 0xA8 || byte == 0xA9
            }
            return nil
        }
    }

    private static func isUTF16(_ text: [UInt8]) -> Bool {
        text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
    }

    static func refusal(
        _ source: YAMLSource, _ position: YAMLPosition, _ message: String, hint: String? = nil
    ) -> Diagnostics {
        Diagnostics(source.diagnostic(message, at: position, path: .root, hint: hint))
    }
}
