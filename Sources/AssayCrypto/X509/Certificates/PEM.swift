internal import AssayCore

/// Reads the textual encoding of certificates (RFC 7468).
public enum PEM {
    /// The most bytes of text that are read.
    public static let byteLimit = 64 * 1024

    /// The content of the one block with a label, such as `PUBLIC KEY`.
    ///
    /// - Throws: as ``blocks(_:in:)``; `malformed` also when there is no such block, or more than one.
    public static func decode(_ label: String, in text: some Collection<UInt8>) throws(CertificateError) -> [UInt8] {
        let found = try blocks(label, in: text)
        guard let content = found.first, found.count == 1 else { throw CertificateError(.malformed) }
        return content
    }

    /// The contents of all blocks with a label, such as `CERTIFICATE`, in their order.
    ///
    /// Text between blocks, and blocks with other labels, are skipped.
    ///
    /// - Throws: ``CertificateError``: `malformed` for a block that does not end or is not Base 64, `too_large` for more
    ///   than ``byteLimit`` bytes.
    public static func blocks(
        _ label: String, in text: some Collection<UInt8>
    ) throws(CertificateError) -> [[UInt8]] {
        guard text.count <= byteLimit else { throw CertificateError(.tooLarge) }
        var blocks: [[UInt8]] = []
        var opened: ArraySlice<UInt8>?
        var digits: [UInt8] = []
        for line in Array(text).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let line = trimmed(line)
            if let name = name(of: line, begin) {
                guard opened == nil else { throw CertificateError(.malformed) }
                opened = name
                digits = []
            } else if let name = name(of: line, end) {
                guard name == opened else { throw CertificateError(.malformed) }
                opened = nil
                guard name.elementsEqual(label.utf8) else { continue }
                guard let content = Base64.decode(utf8: digits) else {
                    throw CertificateError(.malformed)
                }
                blocks.append(content)
            } else if opened != nil {
                digits += line
            }
        }
        guard opened == nil else { throw CertificateError(.malformed) }
        return blocks
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    private static func name(of line: ArraySlice<UInt8>, _ head: [UInt8]) -> ArraySlice<UInt8>? {
        guard line.count > head.count + dashes.count, line.starts(with: head),
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        return line.dropFirst(head.count).dropLast(dashes.count)
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }
}

extension Certificate {
    /// The most certificates of a chain that are read.
    public static let chainLimit = 16

    /// The certificates of a PEM text, in their order: the leaf first, where the text is a chain as servers send it.
    ///
    /// - Throws: ``CertificateError`` for a text that is malformed, has no certificate or more than ``chainLimit``, and
    ///   for what ``init(der:accepting:allowing:)`` refuses.
    public static func chain(
        pem text: some Collection<UInt8>, accepting algorithms: Algorithms = .all,
        allowing deviations: Deviations = []
    ) throws(CertificateError) -> [Certificate] {
        try chain(der: PEM.blocks("CERTIFICATE", in: text), accepting: algorithms, allowing: deviations)
    }

    /// The certificates of a list of DER values, in their order.
    ///
    /// - Throws: ``CertificateError`` for an empty list, for more than ``chainLimit`` values, and for what
    ///   ``init(der:accepting:allowing:)`` refuses.
    public static func chain(
        der list: [[UInt8]], accepting algorithms: Algorithms = .all, allowing deviations: Deviations = []
    ) throws(CertificateError) -> [Certificate] {
        guard !list.isEmpty else { throw CertificateError(.malformed) }
        guard list.count <= chainLimit else { throw CertificateError(.tooLarge) }
        var chain: [Certificate] = []
        for der in list {
            chain.append(try Certificate(der: der[...], accepting: algorithms, allowing: deviations))
        }
        return chain
    }
}
