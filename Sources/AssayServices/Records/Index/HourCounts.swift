internal import AssayCore

/// What decisions are counted by.
package enum CountedField: String, Sendable, CaseIterable {
    case outcome, method, reason, app, caller, rule, service
    case wouldRefuse = "would_refuse"
    case unenforced = "unenforced_reason"
}

/// How many decisions of an hour have the same texts in all fields that decisions are counted by.
struct HourCounts: Sendable, Equatable {
    /// The counts, by the texts of all fields with zero bytes between them.
    private(set) var counts: [[UInt8]: UInt64] = [:]
    /// Whether there were too many different ones, so that the hour must be counted from its lines.
    private(set) var isIncomplete = false

    private static let limit = 2048

    mutating func add(_ key: [UInt8], _ count: UInt64 = 1) {
        if counts[key] != nil || counts.count < HourCounts.limit {
            counts[key, default: 0] &+= count
        } else {
            isIncomplete = true
        }
    }

    /// The counts of a line, by their keys; empty for a line that is about no decision.
    static func keys(_ fields: RecordFields) -> [(key: [UInt8], count: UInt64)] {
        if fields[.decision] != nil {
            return [
                (
                    key([
                        fields[.outcome], fields[.method], fields.cause, fields.shownApp, fields[.caller],
                        fields[.rule], fields[.service], wouldRefuse(fields), fields[.unenforced],
                    ]), 1
                )
            ]
        }
        guard fields[.outcome]?.elementsEqual("summed".utf8) ?? false,
            let line = try? JSON.parse(fields.bytes, limits: JSON.Limits(bytes: LineSplitter.lengthLimit))
        else { return [] }
        var keys: [(key: [UInt8], count: UInt64)] = []
        func add(_ texts: [String?], _ number: Int64?) {
            guard let number, number > 0 else { return }
            keys.append((key(texts.map { text in text.map { Array($0.utf8)[...] } }), UInt64(number)))
        }
        for group in line["groups"]?.array ?? [] {
            let subject = group["subject"]?.string
            let app = subject.flatMap { RecordFields.app(in: Array($0.utf8)[...]) }
            add(
                [
                    group["outcome"]?.string, group["method"]?.string, group["cause"]?.string,
                    app.map { String(decoding: $0, as: UTF8.self) }, nil, nil, nil, nil, nil,
                ], group["count"]?.integer)
        }
        add(Array(repeating: nil, count: CountedField.allCases.count), line["others"]?.integer)
        return keys
    }

    private static func key(_ texts: [ArraySlice<UInt8>?]) -> [UInt8] {
        var key: [UInt8] = []
        for text in texts {
            key += text ?? []
            key.append(0)
        }
        return key
    }

    /// Between the names of what would have refused a decision; a line of JSON never has it within a text.
    private static let separator: UInt8 = 1

    private static func wouldRefuse(_ fields: RecordFields) -> ArraySlice<UInt8>? {
        let names = fields.wouldRefuseNames
        return names.isEmpty ? nil : Array(names.joined(separator: [separator]))[...]
    }

    /// The texts of one field in a key: several for what would have refused a decision, otherwise one, which is empty where the
    /// field is missing.
    static func texts(of field: CountedField, in key: [UInt8]) -> [[UInt8]] {
        let text = text(of: field, in: key)
        guard field == .wouldRefuse else { return [text] }
        return text.split(separator: separator, omittingEmptySubsequences: false).map { Array($0) }
    }

    /// The text of one field in a key; empty where the field is missing.
    static func text(of field: CountedField, in key: [UInt8]) -> [UInt8] {
        let index = CountedField.allCases.firstIndex(of: field) ?? 0
        var place = 0
        var text: [UInt8] = []
        key[...].pieces(between: 0) { part in
            if place == index { text = Array(part) }
            place += 1
        }
        return text
    }

    /// The hour of an instant.
    static func hour(_ time: Int64) -> Int64 { Int64((Double(time) / 3_600_000).rounded(.down)) }

    /// For the index file.
    init(counts: [[UInt8]: UInt64] = [:], isIncomplete: Bool = false) {
        self.counts = counts
        self.isIncomplete = isIncomplete
    }
}
