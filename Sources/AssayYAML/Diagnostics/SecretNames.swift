internal import AssayCore

/// Finds what looks like a secret by the name it has, where no type can tell: in files that are no YAML, under keys that
/// no type knows.
///
/// It hides rather too much than too little, since nothing but an excerpt depends on it.
enum SecretNames {
    private static let words = [
        "secret", "password", "passwd", "passphrase", "private", "credential", "sha256", "token", "key",
    ]
    /// Ends of names of what is about a secret and is none.
    private static let harmlessEnds = ["_ttl", "_id", "_url", "_interval"]

    static func mayNameSecret(_ name: String) -> Bool {
        let name = name.lowercasedASCII
        return words.contains { name.utf8.contains($0.utf8) } && !harmlessEnds.contains { name.ends(withExactly: $0) }
    }

    /// The parts of a line that stand behind such names, to the end of the line, where no reference to a secret stands
    /// there, and the names and passwords in URLs.
    static func values(in line: [Unicode.Scalar]) -> [Range<Int>] {
        named(in: line) + credentials(in: line)
    }

    /// What stands between `://` and `@`.
    private static func credentials(in line: [Unicode.Scalar]) -> [Range<Int>] {
        let colons = line.indices.filter { line[$0...].starts(with: "://".unicodeScalars) }
        return colons.compactMap { colon in
            let rest = line[colon...].dropFirst(3).prefix { !isBlank($0) && $0 != "/" }
            return rest.lastIndex(of: "@").map { rest.startIndex..<$0 }
        }
    }

    private static func named(in line: [Unicode.Scalar]) -> [Range<Int>] {
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
            guard next < line.count, line[next] == ":",
                mayNameSecret(String(String.UnicodeScalarView(line[start..<index])))
            else { continue }
            next += 1
            while next < line.count, isBlank(line[next]) { next += 1 }
            index = next
            if next < line.count, isValue(line[next...]) { return [next..<line.count] }
        }
        return []
    }

    /// Whether something is written there itself: no comment, no collection, no block that begins on the next line.
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
