/// Gives YAML files one layout.
package enum YAMLFormatter {
    /// The text in the layout of Assay's own examples: two spaces a level, also for the items of a list under a key; one
    /// space after `:` and `,` and none within brackets; two before a comment at the end of a line, and one behind its
    /// `#`; at most one empty line in a row; LF at the end of each line and no blanks before it.
    ///
    /// Everything else stays: line breaks, comments, the order of keys, quotes, brackets, blocks of text, anchors and
    /// a mark of UTF-8. A formatted text stays as it is.
    ///
    /// - Throws: what ``YAMLDocument`` refuses; and, with its place, whatever would have another meaning afterwards.
    package static func format(
        _ bytes: [UInt8], file: String, limits: YAMLLimits = .default
    ) throws(Diagnostics) -> [UInt8] {
        let before = try YAMLDocument.parse(bytes, file: file, limits: limits)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let isMarked = bytes.starts(with: mark)
        let source = YAMLSource(file: file, bytes: isMarked ? Array(bytes.dropFirst(mark.count)) : bytes)
        let layout: Layout
        do throws(LayoutReader.Unreadable) {
            layout = try LayoutReader.read(source)
        } catch {
            throw refusal(source, source.position(ofByte: error.offset))
        }

        let text = LayoutPrinter.text(of: layout, in: source.bytes)
        let new = YAMLSource(file: file, bytes: text)
        let isSame = (try? YAMLDocument.parse(text, file: file, limits: limits)).map { LayoutCheck.isSame(before, $0) }
        let check = (try? LayoutReader.read(new)).map {
            LayoutCheck(original: (source.bytes, layout), formatted: (text, $0))
        }
        let difference = check?.firstDifference()
        guard isSame == true, check != nil, difference == nil else {
            throw refusal(source, difference.map { source.position(ofByte: $0.bytes.lowerBound) } ?? .start)
        }
        return (isMarked ? mark : []) + text
    }

    private static func refusal(_ source: YAMLSource, _ position: YAMLPosition) -> Diagnostics {
        YAMLDocument.refusal(source, position, "cannot be formatted without changing its meaning")
    }
}
