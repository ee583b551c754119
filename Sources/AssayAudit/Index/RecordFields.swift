internal import AssayCore

/// The fields of a line that look-ups ask for, found without making a value of the rest.
///
/// It reads what the server writes, a compact JSON object in ASCII. A line of another form has no fields.
package struct RecordFields {
    /// The fields, by which lines are found or counted.
    enum Field: Int, CaseIterable {
        case decision, method, resource, outcome, reason, status, caller, rule, unenforced, keyID, app, event
    }

    /// The line.
    let bytes: ArraySlice<UInt8>
    /// Milliseconds since the Unix epoch.
    private(set) var time: Int64?
    /// The texts of the fields as the line has them, with escapes.
    private var ranges = [Range<Int>?](repeating: nil, count: Field.allCases.count)
    /// Where the list of rules that would have refused is.
    private(set) var wouldRefuse: ArraySlice<UInt8>?

    /// Reads a line without its end; nil when it is not an object, or has no time.
    package init?(_ line: ArraySlice<UInt8>) {
        bytes = line
        var scanner = MemberScanner(line)
        guard scanner.open() else { return nil }
        while let member = scanner.next() { take(member) }
        guard scanner.isClosed, time != nil else { return nil }
    }

    var instant: Instant? { time.map { Instant(milliseconds: $0) } }

    /// The text of a field, with escapes.
    subscript(field: Field) -> ArraySlice<UInt8>? { ranges[field.rawValue].map { bytes[$0] } }

    /// The app: of the token, or the last part of an app's or client's resource name.
    var shownApp: ArraySlice<UInt8>? { self[.app] ?? self[.resource].flatMap { RecordFields.app(in: $0) } }

    /// The app in a resource name.
    static func app(in resource: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let slash = resource.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = resource[..<slash]
        guard folder.elementsEqual("oauthClients".utf8) || folder.suffix(5).elementsEqual("/apps".utf8) else {
            return nil
        }
        return resource[(slash + 1)...]
    }

    /// What is only tried and would have refused it: rules, and `PROVIDER:REASON` for settings of a provider.
    var wouldRefuseNames: [ArraySlice<UInt8>] {
        guard let list = wouldRefuse else { return [] }
        var names: [ArraySlice<UInt8>] = []
        var start: Int?
        var position = list.startIndex
        while position < list.endIndex, names.count < RecordFields.nameLimit {
            switch list[position] {
            case UInt8(ascii: "\\"): position += 1
            case UInt8(ascii: "\""):
                if let begin = start { names.append(list[begin..<position]) }
                start = start == nil ? position + 1 : nil
            default: break
            }
            position += 1
        }
        return names
    }

    /// The server writes no more of them in one record.
    private static let nameLimit = 16

    /// What refused it, or what has no reason: the canonical status.
    var cause: ArraySlice<UInt8>? { self[.reason] ?? self[.status] }

    private mutating func take(_ member: MemberScanner.Member) {
        let name = bytes[member.name]
        switch member.kind {
        case .text:
            guard let field = RecordFields.names.first(where: { name.elementsEqual($0.name) }) else {
                if name.elementsEqual("time".utf8) { time = RecordFields.milliseconds(bytes[member.value]) }
                return
            }
            ranges[field.field.rawValue] = member.value
        case .object where name.elementsEqual("facts".utf8):
            takeText("key_id", of: member.value, as: .keyID)
        case .object where name.elementsEqual("token_use".utf8):
            takeText("app", of: member.value, as: .app)
        case .array where name.elementsEqual("would_refuse".utf8):
            wouldRefuse = bytes[member.value]
        case .object, .array, .other: break
        }
    }

    private mutating func takeText(_ name: StaticString, of value: Range<Int>, as field: Field) {
        var scanner = MemberScanner(bytes[value])
        guard scanner.open() else { return }
        while let member = scanner.next() {
            let isNamed = name.withUTF8Buffer { bytes[member.name].elementsEqual($0) }
            if isNamed, member.kind == .text { ranges[field.rawValue] = member.value }
        }
    }

    private static let names: [(name: [UInt8], field: Field)] = [
        (Array("decision".utf8), .decision), (Array("method".utf8), .method), (Array("resource".utf8), .resource),
        (Array("outcome".utf8), .outcome), (Array("reason".utf8), .reason), (Array("status".utf8), .status),
        (Array("caller".utf8), .caller), (Array("rule".utf8), .rule), (Array("unenforced_reason".utf8), .unenforced),
        (Array("event".utf8), .event),
    ]

    /// `2026-11-21T12:00:00.000Z`; nil for any other form.
    static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
        let form = Array("0000-00-00T00:00:00.000Z".utf8)
        guard text.count == form.count,
            zip(text, form).allSatisfy({ $1 == 0x30 ? $0.isASCIIDigit : $0 == $1 })
        else { return nil }
        func number(_ start: Int, _ count: Int) -> Int {
            text[text.startIndex + start..<text.startIndex + start + count].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let date = CivilDate(year: number(0, 4), month: number(5, 2), day: number(8, 2))
        guard (1...12).contains(date.month), date.day >= 1,
            date.day <= CivilDate.daysIn(month: date.month, year: date.year)
        else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + Int64(number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2))
        return seconds * 1000 + Int64(number(20, 3))
    }
}

/// Goes through the members of a JSON object without making values.
struct MemberScanner {
    enum Kind: Equatable {
        case text, object, array, other
    }

    struct Member {
        let name: Range<Int>
        let kind: Kind
        /// The value; of text what is between the quotation marks.
        let value: Range<Int>
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private let end: Int
    /// Whether the object ended where its bytes end.
    private(set) var isClosed = false
    private var isFirst = true

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        end = bytes.endIndex
    }

    mutating func open() -> Bool { skip(UInt8(ascii: "{")) }

    /// The next member; nil at the end, or where the form is another one.
    mutating func next() -> Member? {
        if skip(UInt8(ascii: "}")) {
            isClosed = position == end
            return nil
        }
        if !isFirst, !skip(UInt8(ascii: ",")) { return nil }
        isFirst = false
        guard let name = string(), skip(UInt8(ascii: ":")), position < end else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "\""): return string().map { Member(name: name, kind: .text, value: $0) }
        case UInt8(ascii: "{"): return nested().map { Member(name: name, kind: .object, value: $0) }
        case UInt8(ascii: "["): return nested().map { Member(name: name, kind: .array, value: $0) }
        default:
            let start = position
            while position < end, bytes[position] != UInt8(ascii: ","), bytes[position] != UInt8(ascii: "}") {
                position += 1
            }
            return position > start ? Member(name: name, kind: .other, value: start..<position) : nil
        }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < end, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// What is between quotation marks.
    private mutating func string() -> Range<Int>? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return start..<position - 1
            }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        position = end
        return nil
    }

    /// An object or an array as a whole.
    private mutating func nested() -> Range<Int>? {
        let start = position
        var depth = 0
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 {
                    position += 1
                    return start..<position
                }
            default: break
            }
            position += 1
        }
        return nil
    }
}
