internal import AssayCore
internal import AssayKit

/// What is looked for in lines.
protocol LineMatcher {
    /// Whether decisions are looked for, so that a file without any is worth a note.
    var findsDecisions: Bool { get }
    /// Whether a block may have lines that match.
    func mayMatch(_ block: AuditIndex.Block, _ filter: ArraySlice<UInt8>) -> Bool
    /// The place of a line that matches; nil for any other.
    func place(of fields: RecordFields) -> DecisionMatcher.Place?
}

/// A query, made ready to be compared with lines.
struct DecisionMatcher: LineMatcher {
    /// The place of a record in the order of results: by time, and then by the number in the chain.
    struct Place: Comparable, Hashable {
        let time: Int64
        let sequence: UInt64

        static func < (left: Place, right: Place) -> Bool {
            (left.time, left.sequence) < (right.time, right.sequence)
        }

        init(time: Int64, sequence: UInt64) {
            self.time = time
            self.sequence = sequence
        }

        /// The place of a record.
        init(of fields: RecordFields, at time: Int64) {
            self.init(time: time, sequence: AuditChain.Line(fields.bytes)?.head.sequence ?? 0)
        }

        /// Reads the token of a page.
        init?(token: String) {
            guard let bytes = Base64.decodeURL(utf8: Array(token.utf8)[...]) else { return nil }
            let parts = bytes.split(separator: UInt8(ascii: "."))
            guard parts.count == 2, let time = Int64(String(decoding: parts[0], as: UTF8.self)),
                let sequence = UInt64(String(decoding: parts[1], as: UTF8.self))
            else { return nil }
            self.init(time: time, sequence: sequence)
        }

        var token: String { Base64.encodeURL(Array("\(time).\(sequence)".utf8)) }
    }

    var findsDecisions: Bool { true }
    let since: Int64
    /// The last millisecond that is meant.
    let last: Int64
    /// The place that results must be before; nil for any.
    let before: Place?
    private let decision: [UInt8]?
    private let texts: [(field: RecordFields.Field, value: [UInt8])]
    private let projects: [[UInt8]]

    /// - Throws: `DecisionArchiveError` for a page token of another form.
    init(_ query: DecisionQuery, decision: String? = nil) throws(DecisionArchiveError) {
        var texts: [(RecordFields.Field, String)] = []
        func add(_ field: RecordFields.Field, _ text: String?) {
            if let text { texts.append((field, text)) }
        }
        add(.decision, decision)
        // What has no reason has a canonical status instead, also in counts.
        add(query.reason.flatMap { StatusCode(exactly: $0) } == nil ? .reason : .status, query.reason)
        add(.keyID, query.keyID)
        add(.caller, query.caller)
        add(.method, query.method)
        add(.outcome, query.outcome)
        add(.rule, query.rule)
        add(.service, query.service)
        if let app = query.app {
            let bytes = Array(app.utf8)
            add(.app, RecordFields.app(in: bytes[...]).map { String(decoding: $0, as: UTF8.self) } ?? app)
        }
        self.texts = texts.map { ($0.0, DecisionMatcher.escaped($0.1)) }
        self.decision = decision.map { DecisionMatcher.escaped($0) }
        projects = query.projects.map { Array("projects/\($0.string)".utf8) }
        since = query.since?.milliseconds ?? .min
        var last = query.until.map { $0.milliseconds == .min ? .min : $0.milliseconds - 1 } ?? .max
        if let token = query.pageToken {
            guard let place = Place(token: token) else {
                throw DecisionArchiveError(.invalidQuery, "the page token is not one that this service issued")
            }
            before = place
            last = min(last, place.time)
        } else {
            before = nil
        }
        self.last = last
    }

    /// The time in an identifier: 48 bits in the first ten of its 26 digits; nil for text of another form.
    static func time(of decision: String) -> Instant? {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        guard decision.utf8.count == 26 else { return nil }
        var milliseconds: Int64 = 0
        for byte in decision.utf8.prefix(10) {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            milliseconds = milliseconds << 5 | Int64(digit)
        }
        return Instant(milliseconds: milliseconds)
    }

    /// The text as a line of JSON has it, without quotation marks.
    static func escaped(_ text: String) -> [UInt8] { Array(JSON.string(text).asciiEncoded.dropFirst().dropLast()) }

    /// Whether a block may have lines that match.
    func mayMatch(_ block: AuditIndex.Block, _ filter: ArraySlice<UInt8>) -> Bool {
        block.last >= since && block.first <= last
            && texts.allSatisfy { BlockFilter.has(BlockFilter.term($0.field, $0.value[...]), in: filter) }
    }

    /// The place of a line that matches; nil for any other.
    func place(of fields: RecordFields) -> Place? {
        guard fields[.decision] != nil, let time = fields.time, time >= since,
            time <= last, isInProject(fields), texts.allSatisfy({ has($0.field, $0.value, fields) })
        else { return nil }
        let place = Place(of: fields, at: time)
        if let before, place >= before { return nil }
        return place
    }

    private func has(_ field: RecordFields.Field, _ value: [UInt8], _ fields: RecordFields) -> Bool {
        func isEqual(_ field: RecordFields.Field) -> Bool {
            fields[field].map { $0.count == value.count && $0.elementsEqual(value) } ?? false
        }
        switch field {
        case .reason: return isEqual(.reason) || isEqual(.unenforced)
        case .app:
            let ofResource = fields[.resource].flatMap { RecordFields.app(in: $0) }
            return isEqual(.app) || ofResource?.elementsEqual(value) ?? false
        case .rule:
            return isEqual(.rule) || fields.wouldRefuseNames.contains { $0.elementsEqual(value) }
        default: return isEqual(field)
        }
    }

    private func isInProject(_ fields: RecordFields) -> Bool {
        guard !projects.isEmpty else { return true }
        guard let resource = fields[.resource] else { return false }
        return projects.contains { project in
            resource.starts(with: project)
                && (resource.count == project.count || resource.dropFirst(project.count).first == UInt8(ascii: "/"))
        }
    }
}
