internal import AssayCore

/// Finds possible secrets by their names, where no type can tell: in files that are not YAML, and under unknown keys.
///
/// It prefers to hide too much, since only excerpts depend on it.
enum SecretNames {
    private static let words = [
        "secret", "password", "passwd", "passphrase", "private", "credential", "sha256", "token", "key",
    ]
    /// The ends of names that are about a secret but contain none.
    private static let harmlessEnds = ["_ttl", "_id", "_url", "_interval"]

    static func mayNameSecret(_ name: String) -> Bool {
        let name = name.lowercasedASCII
        return words.contains { name.utf8.contains($0.utf8) } && !harmlessEnds.contains { name.ends(withExactly: $0) }
    }

    /// The parts of a line after such names, to the end of the line, unless a reference to a secret follows, and the
    /// names and passwords in URLs.
    ///
    /// - Parameter harmless: the parts of the line with names that are known to be about no secret.
    static func values(in line: [Unicode.Scalar], except harmless: [Range<Int>] = []) -> [Range<Int>] {
        named(in: line, except: harmless) + credentials(in: line)
    }

    /// The text between `://` and `@`.
    private static func credentials(in line: [Unicode.Scalar]) -> [Range<Int>] {
        let colons = line.indices.filter { line[$0...].starts(with: "://".unicodeScalars) }
        return colons.compactMap { colon in
            let rest = line[colon...].dropFirst(3).prefix { !isBlank($0) && $0 != "/" }
            return rest.lastIndex(of: "@").map { rest.startIndex..<$0 }
        }
    }

    private static func named(in line: [Unicode.Scalar], except harmless: [Range<Int>]) -> [Range<Int>] {
        var index = 0
        while index < line.count {
            let start = index
            while index < line.count, isWord(line[index]) { index += 1 }
            guard index > start else {
                index += 1
                continue
            }
            var next = index
            while next < line.count, line[next] == "\"" || line[next] == "'" { next += 1 }
            while next < line.count, isBlank(line[next]) { next += 1 }
            guard next < line.count, line[next] == ":", !harmless.contains(where: { $0.contains(start) }),
                mayNameSecret(String(String.UnicodeScalarView(line[start..<index])))
            else { continue }
            next += 1
            while next < line.count, isBlank(line[next]) { next += 1 }
            index = next
            if next < line.count, isValue(line[next...]) { return [next..<line.count] }
        }
        return []
    }

    /// Whether a value is written on this line: not a comment, a collection, or a block that begins on the next line.
    private static func isValue(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = rest.first, !"#[{|>,}]".unicodeScalars.contains(first) else { return false }
        let text = rest.drop { $0 == "\"" || $0 == "'" }
        return !["env:", "file:"].contains { text.starts(with: $0.unicodeScalars) }
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
        default: false
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
