/// Reads a policy file into located values.
package enum YAMLDocument {
    /// The value of a file that holds exactly one YAML document; an empty file is an empty mapping.
    ///
    /// Refused, with the place: syntax errors, bytes that are not UTF-8, duplicate keys, keys that are not scalars,
    /// explicit tags, merge keys (`<<`), more than one document that holds something, many directives, what libyaml
    /// reads in another way than it looks (``AmbiguousSyntax``), and whatever exceeds the limits. Anchors and aliases are
    /// allowed; the values that an alias repeats count like any others. A pair of escapes in double quotes, such as
    /// `\ud83d\ude00`, is the one character that JSON means by it, and a line of spaces and tabs is a blank line.
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
        if let encoding = WideEncoding(of: bytes) {
            // Its bytes shown as text would not help.
            throw refusal(
                YAMLSource(file: file, bytes: []), .start, "the file is \(encoding.name), not UTF-8",
                hint: "save it as UTF-8, for example with `iconv -f \(encoding.iconvName) -t UTF-8`")
        }
        if let offset = firstInvalidByte(of: text) {
            throw refusal(source, source.position(ofByte: offset), "not UTF-8 text")
        }
        if let found = AmbiguousSyntax.firstHiddenLineBreak(in: text) {
            throw refusal(
                source, source.position(ofByte: found.offset),
                "\(found.name) ends a line in YAML 1.1, and in no editor",
                hint: "remove it, or write it as \(found.escape) in double quotes")
        }
        if let offset = firstExcessiveDirective(of: text) {
            throw refusal(
                source, source.position(ofByte: offset), "more than \(mostDirectives) lines that begin with `%`")
        }
        let readable = YAMLText(source, text)
        return try readable.bytes.withUnsafeBufferPointer { (buffer) throws(Diagnostics) -> YAMLNode in
            var builder = TreeBuilder(source: source, text: readable, limits: limits)
            let parser = try EventParser(buffer, source: source, of: readable)
            do throws(Diagnostics) {
                return try builder.build(from: parser)
            } catch {
                throw conflict(in: source) ?? error
            }
        }
    }

    /// What is wrong in a file that cannot be read, if a merge left its marks; nil if there are none.
    private static func conflict(in source: YAMLSource) -> Diagnostics? {
        var number = 0
        while let line = source.lineBytes(number + 1) {
            number += 1
            guard let sign = line.first, "<=>|".utf8.contains(sign), line.count < 4096 else { continue }
            let count = line.prefix { $0 == sign }.count
            guard count == 7, line.count == 7 || line[line.startIndex + 7] == UInt8(ascii: " ") else { continue }
            return refusal(
                source, YAMLPosition(line: UInt32(clamping: number), column: 1), "a merge conflict is not resolved",
                hint:
                    "keep one of the versions, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`")
        }
        return nil
    }

    private static func firstInvalidByte(of text: [UInt8]) -> Int? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: text.span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    /// A policy needs no directive at all.
    ///
    /// libyaml compares each `%TAG` with all earlier ones, which takes hours for the million that a file may contain.
    private static let mostDirectives = 100

    /// The first byte of the first line beyond the limit; nil when the limit is not exceeded.
    private static func firstExcessiveDirective(of text: [UInt8]) -> Int? {
        text.withUnsafeBufferPointer { text in
            var count = 0
            var startsLine = true
            for (offset, byte) in text.enumerated() {
                if startsLine, byte == UInt8(ascii: "%") {
                    count += 1
                    if count > mostDirectives { return offset }
                }
                startsLine = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            }
            return nil
        }
    }

    static func refusal(
        _ source: YAMLSource, _ position: YAMLPosition, _ message: String, hint: String? = nil
    ) -> Diagnostics {
        Diagnostics(source.diagnostic(message, at: position, path: .root, hint: hint))
    }
}

/// What a policy file may cost.
package struct YAMLLimits: Sendable, Hashable {
    /// The longest file, in bytes.
    package var bytes: Int
    /// The deepest nesting of sequences and mappings.
    package var depth: Int
    /// The most values, including those that aliases repeat.
    package var nodes: Int

    package init(bytes: Int = 16 << 20, depth: Int = 32, nodes: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.nodes = nodes
    }

    /// 16 MiB, 32 levels, 1,000,000 values: room for 10,000 apps.
    package static let `default` = YAMLLimits()
}
