public import AssayCore

/// A secret that is a document, PEM or JSON, in each form in which files, shells and hosting panels write one.
///
/// A panel that has one line for a value writes the line ends of a key as `\n` or as spaces, or wants the whole as Base64; editors add a
/// byte-order mark or CRLF, and shells leave quotation marks. All of these are read, because only one document can be
/// meant. Anything else is refused with its cause, which contains nothing of the text.
public enum SecretText {
    /// The longest text that is read, in bytes.
    public static let byteLimit = 65_536

    /// The PEM blocks of a text (RFC 7468, section 2), each in its usual form, and nothing else of the text.
    ///
    /// The caller wipes text and result.
    ///
    /// - Throws: why there is no PEM in it, such as that it was cut off.
    public static func pem(_ text: [UInt8]) throws(SecretError) -> [UInt8] {
        var bare = try bare(text) { PEMScanner.start(in: $0[...]) != nil }
        defer { SecretBytes.wipe(&bare) }
        // A document that contains a key among others is not the key.
        guard bare.first != UInt8(ascii: "{") else { throw SecretError("it is JSON, not PEM") }
        var scanner = PEMScanner(bare[...])
        var result: [UInt8] = []
        while try scanner.next(&result) {}
        guard !result.isEmpty else { throw SecretError(absence(of: "PEM", in: bare)) }
        return result
    }

    /// The JSON document of a text, as RFC 8259 has it.
    ///
    /// The caller wipes text and result.
    ///
    /// - Throws: why there is no JSON object or array in it.
    public static func json(_ text: [UInt8]) throws(SecretError) -> [UInt8] {
        var bare = try bare(text) { $0.first == UInt8(ascii: "{") || $0.first == UInt8(ascii: "[") }
        defer { SecretBytes.wipe(&bare) }
        guard bare.first == UInt8(ascii: "{") || bare.first == UInt8(ascii: "[") else {
            throw SecretError(absence(of: "JSON", in: bare))
        }
        var plain = try unescaped(bare)
        defer { SecretBytes.wipe(&plain) }
        let repaired = withEscapesInStringsOnly(plain)
        do throws(JSONError) {
            _ = try JSON.parse(repaired, limits: JSON.Limits(bytes: 2 * byteLimit))
        } catch {
            throw SecretError("it is not JSON: \(error)")
        }
        return repaired
    }

    // MARK: The whole

    /// The text without what was put around it, decoded if it is Base64 of a document.
    ///
    /// - Parameter isDocument: whether a text may be a document as it is.
    private static func bare(_ text: [UInt8], isDocument: ([UInt8]) -> Bool) throws(SecretError) -> [UInt8] {
        guard text.count <= byteLimit else { throw SecretError("it is longer than \(byteLimit) bytes") }
        var outer = try unquoted(text[...])
        guard !isDocument(outer) else { return outer }
        // Some tools break the lines of Base64.
        var digits = outer.filter { !isSpace($0) }
        defer { SecretBytes.wipe(&digits) }
        guard var decoded = Base64.decode(utf8: digits) else { return outer }
        defer { SecretBytes.wipe(&decoded) }
        guard decoded.first != 0x30, let inner = try? unquoted(decoded[...]), isDocument(inner) else {
            // The content of a key file, DER, begins so.
            if decoded.first == 0x30 {
                SecretBytes.wipe(&outer)
                throw SecretError("it is Base64 without the lines BEGIN and END; put the whole file there")
            }
            return outer
        }
        SecretBytes.wipe(&outer)
        return inner
    }

    /// The text without byte-order mark, white space and quotation marks around it.
    private static func unquoted(_ text: ArraySlice<UInt8>) throws(SecretError) -> [UInt8] {
        guard !text.starts(with: [0xFF, 0xFE]), !text.starts(with: [0xFE, 0xFF]) else {
            throw SecretError("it is UTF-16; save it as UTF-8")
        }
        guard !text.contains(0) else { throw SecretError("it contains a NUL byte") }
        var text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        while true {
            while let last = text.last, isSpace(last) { text = text.dropLast() }
            text = text.drop(while: isSpace)
            guard let first = text.first, let last = text.last else { throw SecretError("it is empty") }
            guard isQuote(first) || isQuote(last) else { return Array(text) }
            guard first == last, text.count >= 2 else {
                throw SecretError("it has a quotation mark at one end only: it was cut off, or pasted in part")
            }
            text = text.dropFirst().dropLast()
        }
    }

    private static func absence(of form: String, in text: [UInt8]) -> String {
        if text.first == UInt8(ascii: "/") || text.starts(with: "./".utf8) || text.starts(with: "~/".utf8),
            !text.contains(where: isSpace)
        {
            return "it looks like the path of a file; refer to that as file:PATH"
        }
        if PEMScanner.start(in: text[...]) != nil { return "it is PEM, not \(form)" }
        return form.isExactly("PEM") ? "it has no line -----BEGIN …-----" : "it begins with neither { nor ["
    }

    // MARK: JSON

    /// A document whose quotation marks are escaped, as in a string of another document, without these escapes.
    private static func unescaped(_ text: [UInt8]) throws(SecretError) -> [UInt8] {
        guard let quote = text.firstIndex(of: UInt8(ascii: "\"")), quote > 0, text[quote - 1] == UInt8(ascii: "\\")
        else { return text }
        var string = [UInt8(ascii: "\"")]
        defer { SecretBytes.wipe(&string) }
        for byte in text { append(byte, to: &string) }
        string.append(UInt8(ascii: "\""))
        guard let content = (try? JSON.parse(string, limits: JSON.Limits(bytes: 2 * byteLimit)))?.string else {
            throw SecretError("its quotation marks are escaped, but not all as in a string of JSON")
        }
        return Array(content.utf8)
    }

    /// JSON has line ends between values and `\n` in strings; a shell or a panel that turned one into the other is undone.
    private static func withEscapesInStringsOnly(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isInString = false
        var isEscaped = false
        for byte in text {
            if isEscaped {
                isEscaped = false
                if isInString {
                    result.append(byte)
                } else if [UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")].contains(byte) {
                    result.append(UInt8(ascii: " "))
                } else {
                    result += [UInt8(ascii: "\\"), byte]
                }
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                if isInString { result.append(byte) }
            } else if isInString {
                isInString = byte != UInt8(ascii: "\"")
                append(byte, to: &result)
            } else {
                isInString = byte == UInt8(ascii: "\"")
                result.append(byte)
            }
        }
        if isEscaped, !isInString { result.append(UInt8(ascii: "\\")) }
        return result
    }

    /// Appends a byte of a string of JSON, which holds no line ends and no tabs as they are.
    private static func append(_ byte: UInt8, to string: inout [UInt8]) {
        switch byte {
        case 0x0A: string += "\\n".utf8
        case 0x0D: string += "\\r".utf8
        case 0x09: string += "\\t".utf8
        default: string.append(byte)
        }
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        "\"'`".utf8.contains(byte)
    }
}

/// Finds the blocks of PEM in a text, whatever separates their lines.
private struct PEMScanner {
    private static let begin = Array("-----BEGIN ".utf8)
    private static let dashes = Array("-----".utf8)

    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) {
        rest = text
    }

    /// Where a text has the first block; nil for one without.
    static func start(in text: ArraySlice<UInt8>) -> Int? {
        position(of: begin, in: text)
    }

    /// Appends the next block, in lines of 64 characters; false when there is none.
    ///
    /// What is around blocks is an explanation (RFC 7468, section 2).
    mutating func next(_ result: inout [UInt8]) throws(SecretError) -> Bool {
        guard let start = Self.start(in: rest) else { return false }
        let head = rest[(start + Self.begin.count)...]
        guard let labelEnd = Self.position(of: Self.dashes, in: head.prefix(80)) else {
            throw SecretError("its line -----BEGIN has no end")
        }
        let label = Array(head[..<labelEnd])
        guard label.allSatisfy({ $0.isASCIIUppercase || $0.isASCIIDigit || $0 == 0x20 }) else {
            throw SecretError("its line -----BEGIN …----- is damaged")
        }
        let name = String(decoding: label, as: UTF8.self)
        let body = head[(labelEnd + Self.dashes.count)...]
        guard let bodyEnd = Self.position(of: Self.dashes, in: body) else {
            throw SecretError(
                "its line -----END \(name)----- is missing: it was cut off, perhaps after the first line of a variable")
        }
        let end = Array("-----END ".utf8) + label + Self.dashes
        guard body[bodyEnd...].starts(with: end) else {
            throw SecretError("a line -----END …----- does not belong to its -----BEGIN \(name)-----")
        }
        var digits = try Self.digits(of: body[..<bodyEnd])
        defer { SecretBytes.wipe(&digits) }
        result += Self.begin + label + Self.dashes + [0x0A]
        for line in stride(from: 0, to: digits.count, by: 64) {
            result += digits[line..<min(line + 64, digits.count)] + [0x0A]
        }
        result += end + [0x0A]
        rest = body[(bodyEnd + end.count)...]
        return true
    }

    /// The Base64 of a block: without line ends, written as they are or as `\n`.
    private static func digits(of body: ArraySlice<UInt8>) throws(SecretError) -> [UInt8] {
        guard !body.contains(UInt8(ascii: ":")) else {
            throw SecretError("it is an encrypted private key: decrypt it first, and protect the file")
        }
        var digits: [UInt8] = []
        digits.reserveCapacity(body.count)
        var isEscaped = false
        for byte in body {
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if isEscaped {
                isEscaped = false
                // Any other escape is no Base64 either.
                if ![UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")].contains(byte) {
                    digits += [UInt8(ascii: "\\"), byte]
                }
            } else if !SecretText.isSpace(byte) {
                digits.append(byte)
            }
        }
        defer { SecretBytes.wipe(&digits) }
        guard var content = Base64.decode(utf8: digits), !content.isEmpty else {
            throw SecretError("the lines between BEGIN and END are not Base64: some of it is missing or was changed")
        }
        defer { SecretBytes.wipe(&content) }
        return Array(Base64.encode(content).utf8)
    }

    /// Where a text has a phrase that begins with dashes.
    private static func position(of phrase: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        var place = text.startIndex
        while let dash = text[place...].firstIndex(of: UInt8(ascii: "-")) {
            if text[dash...].starts(with: phrase) { return dash }
            place = dash + 1
        }
        return nil
    }
}

extension SecretSource {
    /// A secret in PEM, such as a private key, which the caller wipes.
    ///
    /// ``SecretText/pem(_:)`` says which forms are read.
    ///
    /// - Parameter isSecret: false for a certificate or a public key, whose file every user may read.
    /// - Throws: that it is not set, cannot be read, or holds no PEM, with the cause; nothing of its content.
    public func pem(_ reference: SecretReference, isSecret: Bool = true) throws(SecretError) -> [UInt8] {
        try document(reference, isSecret, "PEM", SecretText.pem)
    }

    /// A secret in JSON, such as the key file of a service account, which the caller wipes.
    ///
    /// ``SecretText/json(_:)`` says which forms are read.
    ///
    /// - Parameter isSecret: false for a document such as a set of public keys, whose file every user may read.
    /// - Throws: that it is not set, cannot be read, or holds no JSON, with the cause; nothing of its content.
    public func json(_ reference: SecretReference, isSecret: Bool = true) throws(SecretError) -> [UInt8] {
        try document(reference, isSecret, "JSON", SecretText.json)
    }

    private func document(
        _ reference: SecretReference, _ isSecret: Bool, _ form: String,
        _ read: ([UInt8]) throws(SecretError) -> [UInt8]
    ) throws(SecretError) -> [UInt8] {
        guard var text = try isSecret ? resolve(reference) : self.document(reference) else {
            throw SecretError("\(reference) is not set")
        }
        defer { SecretBytes.wipe(&text) }
        do throws(SecretError) {
            return try read(text)
        } catch {
            throw SecretError("\(reference) holds no \(form): \(error.message)")
        }
    }
}
