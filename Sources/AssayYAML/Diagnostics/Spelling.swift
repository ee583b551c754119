internal import AssayCore

/// Guesses what a misspelled key was meant to be.
package enum Spelling {
    /// Names of more bytes than this are not compared.
    private static let longest = 64
    /// So many names are compared; a longer list would not help a reader.
    private static let most = 1000

    /// The candidate nearest to a name, or nil when none is near: one slip in a short name, up to three in a long one.
    package static func suggestion(for name: String, among candidates: [String]) -> String? {
        guard name.utf8.count <= longest, candidates.count <= most else { return nil }
        // A name that others begin with is short for one of them, rather than a slip.
        guard candidates.count(where: { $0.starts(withExactly: "\(name)_") }) < 2 else { return nil }
        let slips = name.utf8.count <= 4 ? 1 : name.utf8.count <= 8 ? 2 : 3
        var best: (distance: Int, candidate: String)?
        for candidate in candidates where !candidate.isExactly(name) && candidate.utf8.count <= longest {
            guard let distance = distance(name, candidate), distance <= slips, distance < candidate.utf8.count else {
                continue
            }
            if best.map({ distance < $0.distance }) ?? true { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// "did you mean `x`?" for a near candidate; nil otherwise, for messages that list what is known themselves.
    package static func guess(for name: String, among candidates: [String]) -> String? {
        suggestion(for: name, among: candidates).map { "did you mean `\($0)`?" }
    }

    /// "did you mean `x`?" for a near candidate; otherwise the list of known names; nil when it is empty or too long.
    package static func hint(for name: String, among candidates: [String]) -> String? {
        if let guess = guess(for: name, among: candidates) { return guess }
        guard !candidates.isEmpty, candidates.count <= most else { return nil }
        let names = Set(candidates.map { ExactText($0) }).sorted()
        let listed = names.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        return "known here: \(listed)\(names.count > 20 ? ", …" : "")"
    }

    /// The optimal string alignment distance (Damerau-Levenshtein without repeated edits); case counts as no slip.
    private static func distance(_ left: String, _ right: String) -> Int? {
        var a = Array(left.lowercasedASCII.unicodeScalars)[...]
        var b = Array(right.lowercasedASCII.unicodeScalars)[...]
        guard !a.isEmpty, !b.isEmpty, abs(a.count - b.count) <= 3 else { return nil }
        // What both begin and end with costs nothing.
        while let first = a.first, first == b.first { (a, b) = (a.dropFirst(), b.dropFirst()) }
        while let last = a.last, last == b.last { (a, b) = (a.dropLast(), b.dropLast()) }
        return distance(Array(a), Array(b))
    }

    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforePrevious: [Int] = []
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var current = [i]
            for j in 1...b.count {
                let substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                var least = min(previous[j] + 1, current[j - 1] + 1, substitution)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    least = min(least, beforePrevious[j - 2] + 1)
                }
                current.append(least)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[b.count]
    }
}
