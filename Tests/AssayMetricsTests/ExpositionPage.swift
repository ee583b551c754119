/// A page of metrics as a strict reader sees it, who refuses what the two formats do not allow.
struct ExpositionPage {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Family {
        let name: String
        let help: String
        let type: String
        var samples: [Sample] = []
    }

    private struct Series: Hashable {
        let name: String
        let labels: [String: String]
    }

    private(set) var families: [Family] = []
    private var values: [Series: Double] = [:]

    /// - Parameter isOpenMetrics: whether it is to be OpenMetrics 1.0.0, and not Prometheus text 0.0.4.
    init(_ bytes: [UInt8], isOpenMetrics: Bool = false) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed(description: "not UTF-8") }
        guard text.hasSuffix("\n"), !text.contains("\r") else { throw Malformed(description: "no end of the line") }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        if isOpenMetrics {
            guard lines.popLast() == "# EOF" else { throw Malformed(description: "no EOF") }
        }
        var help: (name: String, text: String)?
        for line in lines {
            if line.hasPrefix("# HELP ") {
                let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                guard help == nil, parts.count == 2 else { throw Malformed(description: "\(line)") }
                help = (String(parts[0]), try Self.unescaped(parts[1], quotes: isOpenMetrics))
            } else if line.hasPrefix("# TYPE ") {
                let parts = line.dropFirst(7).split(separator: " ", omittingEmptySubsequences: false)
                guard parts.count == 2, let before = help, before.name == parts[0],
                    ["counter", "gauge", "histogram"].contains(parts[1]),
                    !families.contains(where: { $0.name == parts[0] })
                else { throw Malformed(description: "\(line)") }
                families.append(Family(name: before.name, help: before.text, type: String(parts[1])))
                help = nil
            } else {
                guard help == nil, !families.isEmpty else { throw Malformed(description: "\(line)") }
                families[families.count - 1].samples.append(try Self.sample(line))
            }
        }
        for family in families { try Self.check(family, isOpenMetrics) }
        for sample in families.flatMap(\.samples) {
            guard values.updateValue(sample.value, forKey: Series(name: sample.name, labels: sample.labels)) == nil
            else { throw Malformed(description: "a series stands there twice: \(sample)") }
        }
    }

    /// The value of a series; nil when there is none with exactly these labels.
    subscript(_ name: String, _ labels: [String: String]) -> Double? {
        values[Series(name: name, labels: labels)]
    }

    subscript(_ name: String) -> Double? { self[name, [:]] }

    private static func check(_ family: Family, _ isOpenMetrics: Bool) throws {
        guard isName(family.name), !family.samples.isEmpty else { throw Malformed(description: family.name) }
        var names: Set<String> = [family.name]
        if family.type == "counter" {
            guard family.name.hasSuffix("_total") != isOpenMetrics else { throw Malformed(description: family.name) }
            names = [isOpenMetrics ? "\(family.name)_total" : family.name]
        }
        if family.type == "histogram" { names = Set(["_bucket", "_sum", "_count"].map { family.name + $0 }) }
        for sample in family.samples {
            guard names.contains(sample.name), family.type != "counter" || sample.value >= 0 else {
                throw Malformed(description: "\(sample)")
            }
        }
        if family.type == "histogram" { try checkHistogram(family) }
    }

    /// Buckets rise, end with +Inf, and agree with the count; each set of labels has all of its samples in one piece.
    private static func checkHistogram(_ family: Family) throws {
        var rest = family.samples[...]
        while let first = rest.first {
            let malformed = Malformed(description: "\(first)")
            var labels = first.labels
            labels["le"] = nil
            var bound = -Double.infinity
            var count = 0.0
            while let sample = rest.first, sample.name == "\(family.name)_bucket" {
                guard let le = sample.labels["le"].flatMap({ $0 == "+Inf" ? .infinity : Double($0) }), le > bound,
                    sample.value >= count, sample.labels.filter({ $0.key != "le" }) == labels
                else { throw malformed }
                bound = le
                count = sample.value
                rest = rest.dropFirst()
            }
            guard bound == .infinity, rest.popFirst()?.name == "\(family.name)_sum",
                rest.popFirst() == Sample(name: "\(family.name)_count", labels: labels, value: count)
            else { throw malformed }
        }
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let malformed = Malformed(description: "\(line)")
        guard let end = line.firstIndex(where: { $0 == "{" || $0 == " " }) else { throw malformed }
        let name = String(line[..<end])
        var rest = line[end...]
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while true {
                guard let equals = rest.firstIndex(of: "="), rest[equals...].hasPrefix("=\"") else { throw malformed }
                let label = String(rest[..<equals])
                rest = rest[equals...].dropFirst(2)
                var value = ""
                while let character = rest.first, character != "\"" {
                    value.append(character)
                    rest = rest.dropFirst()
                    if character == "\\", let next = rest.popFirst() { value.append(next) }
                }
                guard isName(label), rest.popFirst() == "\"",
                    labels.updateValue(try unescaped(value[...], quotes: true), forKey: label) == nil
                else { throw malformed }
                if rest.first == "}" { break }
                guard rest.popFirst() == "," else { throw malformed }
            }
            rest = rest.dropFirst()
        }
        guard isName(name), rest.popFirst() == " " else { throw malformed }
        let number: Double? =
            switch rest {
            case "+Inf": .infinity
            case "NaN": .nan
            default: rest.contains(" ") ? nil : Double(rest)
            }
        guard let number else { throw malformed }
        return Sample(name: name, labels: labels, value: number)
    }

    private static func unescaped(_ text: Substring, quotes: Bool) throws -> String {
        var result = ""
        var rest = text
        while let character = rest.popFirst() {
            guard character == "\\" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result.append("\\")
            case "n": result.append("\n")
            case "\"" where quotes: result.append("\"")
            default: throw Malformed(description: "an unknown escape: \(text)")
            }
        }
        return result
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
    }
}
