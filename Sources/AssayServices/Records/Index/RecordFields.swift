internal import AssayCore

/// The fields of a line that look-ups ask for, found without making a value of the rest.
///
/// It reads what the server writes, a compact JSON object in ASCII. A line of another form has no fields.
package struct RecordFields {
    /// The fields, by which lines are found or counted.
    enum Field: Int, CaseIterable {
        case decision, method, resource, outcome, reason, status, caller, rule, unenforced, keyID, app, event, service
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
    ///
    /// Its time is proportional to the bytes, whatever they are.
    package init?(_ line: ArraySlice<UInt8>) {
        bytes = line
        // The shortest line with a time is longer.
        guard line.count > RecordFields.timeLength, line.first == UInt8(ascii: "{") else { return nil }
        let isWhole = line.withUnsafeBytes { buffer in
            var scanner = MemberScanner(buffer, 0..<buffer.count)
            guard scanner.open() else { return false }
            while let member = scanner.next() { take(member, of: buffer) }
            return scanner.isClosed
        }
        guard isWhole, time != nil else { return nil }
    }

    var instant: Instant? { time.map { Instant(milliseconds: $0) } }

    /// The text of a field, with escapes.
    subscript(field: Field) -> ArraySlice<UInt8>? { ranges[field.rawValue].map(slice) }

    /// Ranges count from the first byte of the line.
    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
    }

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

    /// What is in shadow and would have refused it: rules, and `PROVIDER:REASON` for settings of a provider.
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

    private mutating func take(_ member: MemberScanner.Member, of line: UnsafeRawBufferPointer) {
        guard member.name.count < RecordFields.names.count else { return }
        for name in RecordFields.names[member.name.count]
        where ByteSearch.isWord(name.word, in: line, at: member.name) {
            switch (name.meaning, member.kind) {
            case (.field(let field), .text): ranges[field.rawValue] = member.value
            case (.time, .text): time = RecordFields.milliseconds(line, member.value)
            case (.object(let texts), .object): take(texts, of: member.value, in: line)
            case (.rules, .array): wouldRefuse = slice(member.value)
            default: break
            }
        }
    }

    private mutating func take(
        _ texts: [(word: StaticString, field: Field)], of value: Range<Int>, in line: UnsafeRawBufferPointer
    ) {
        var scanner = MemberScanner(line, value)
        guard scanner.open() else { return }
        while let member = scanner.next() {
            for text in texts where member.kind == .text && ByteSearch.isWord(text.word, in: line, at: member.name) {
                ranges[text.field.rawValue] = member.value
            }
        }
    }

    /// What a member of a line is read for.
    private enum Meaning {
        case field(Field)
        case time
        /// An object, of which some texts are read.
        case object([(word: StaticString, field: Field)])
        case rules
    }

    /// The names of the members that are read, by their lengths: a line may have thousands of others.
    private static let names: [[(word: StaticString, meaning: Meaning)]] = {
        let all: [(StaticString, Meaning)] = [
            ("decision", .field(.decision)), ("method", .field(.method)), ("resource", .field(.resource)),
            ("outcome", .field(.outcome)), ("reason", .field(.reason)), ("status", .field(.status)),
            ("caller", .field(.caller)), ("rule", .field(.rule)), ("unenforced_reason", .field(.unenforced)),
            ("event", .field(.event)), ("time", .time), ("facts", .object([("key_id", .keyID)])),
            ("token_use", .object([("app", .app), ("service", .service)])), ("would_refuse", .rules),
        ]
        let longest = all.map(\.0.utf8CodeUnitCount).max() ?? 0
        return (0...longest).map { length in
            all.filter { $0.0.utf8CodeUnitCount == length }.map { (word: $0.0, meaning: $0.1) }
        }
    }()

    private static let timeLength = 24

    /// `2026-11-21T12:00:00.000Z`; nil for any other form.
    static func milliseconds(_ line: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int64? {
        guard range.count == timeLength, range.upperBound <= line.count else { return nil }
        let start = range.lowerBound
        for (offset, mark) in marks where line[start + offset] != mark { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            var number = 0
            for index in start + offset..<start + offset + count {
                let digit = line[index] ^ 0x30
                guard digit < 10 else { return nil }
                number = number * 10 + Int(digit)
            }
            return number
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hours = number(11, 2),
            let minutes = number(14, 2), let seconds = number(17, 2), let milliseconds = number(20, 3)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard (1...12).contains(month), day >= 1, day <= CivilDate.daysIn(month: month, year: year) else { return nil }
        let time = date.daysSinceEpoch * 86_400 + Int64(hours * 3600 + minutes * 60 + seconds)
        return time * 1000 + Int64(milliseconds)
    }

    /// What is between the digits of a time, by its place.
    private static let marks: [(Int, UInt8)] = [
        (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
        (16, UInt8(ascii: ":")), (19, UInt8(ascii: ".")), (23, UInt8(ascii: "Z")),
    ]
}
