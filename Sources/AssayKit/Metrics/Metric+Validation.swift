extension Metric {
    /// What is wrong with the declaration by the rules of the exposition formats and by ours; nil when nothing is.
    package var problem: String? {
        guard Metric.isName(name) else { return "the metric '\(name)' must be lower-case words joined by underscores" }
        switch kind {
        case .counter:
            guard name.ends(withExactly: "_total") else { return "the counter '\(name)' must end in _total" }
        case .gauge, .histogram:
            // These endings mean something else to whoever reads the page.
            for ending in ["_total", "_bucket", "_count", "_sum", "_created", "_info"]
            where name.ends(withExactly: ending) {
                guard ending.isExactly("_info"), kind == .gauge else {
                    return "the metric '\(name)' must not end in \(ending)"
                }
            }
        }
        if case .histogram(let buckets) = kind {
            let isRising = zip(buckets, buckets.dropFirst()).allSatisfy { $0 < $1 }
            guard (1...64).contains(buckets.count), isRising, buckets.allSatisfy(\.isFinite) else {
                return "the buckets of '\(name)' must be 1 to 64 finite numbers in rising order"
            }
        }
        guard labels.count <= 6, Set(labels.map { ExactText($0.name) }).count == labels.count else {
            return "the metric '\(name)' may have up to 6 labels, no two of one name"
        }
        for label in labels {
            guard Metric.isName(label.name), !["le", "quantile"].contains(exactly: label.name) else {
                return "the label '\(label.name)' of '\(name)' must be lower-case words joined by underscores"
            }
            guard label.values.count <= 4096, label.openValues <= 65_536,
                label.values.allSatisfy({ $0.utf8.count <= Label.valueLimit })
            else {
                return "the label '\(label.name)' of '\(name)' may have up to 4096 values of \(Label.valueLimit) bytes"
            }
        }
        return nil
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLowerCaseLetter, text.utf8.count <= 100,
            !zip(text.utf8, text.utf8.dropFirst()).contains(where: { $0 == UInt8(ascii: "_") && $1 == $0 })
        else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            byte.isLowerCaseLetter || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}

extension Metric.Label {
    /// How many bytes a value may have.
    package static let valueLimit = 128
}

extension UInt8 {
    fileprivate var isLowerCaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
