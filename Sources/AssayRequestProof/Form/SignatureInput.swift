internal import AssayCore

/// What a proof signs, and when: the one form of the field `Signature-Input` that is accepted.
///
///     appcheck=("@method" "@authority" "@request-target" "content-digest");created=1764000000;tag="appcheck-request"
///
/// The field may have other signatures beside it, as a dictionary (RFC 9421, section 4.1).
struct SignatureInput: Equatable {
    /// The label of the signature in both fields.
    static let label = "appcheck"

    private static let covered = #"("@method" "@authority" "@request-target" "content-digest")"#
    private static let tag = #";tag="appcheck-request""#

    /// When the proof was made, in seconds since 1970.
    let created: Int64

    init(created: Int64) {
        self.created = created
    }

    /// Nil for any other member.
    init?(_ member: Substring) {
        let start = Self.covered + ";created="
        guard member.starts(withExactly: start), member.ends(withExactly: Self.tag) else { return nil }
        let digits = member.utf8.dropFirst(start.utf8.count).dropLast(Self.tag.utf8.count)
        // Twelve digits are enough for 30,000 years.
        guard (1...12).contains(digits.count), digits.allSatisfy(\.isASCIIDigit), digits.first != UInt8(ascii: "0"),
            let created = Int64(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(created: created)
    }

    /// The member, which is also the value of `@signature-params`.
    var text: String { "\(Self.covered);created=\(created)\(Self.tag)" }
}

/// A dictionary field (RFC 9651, section 3.2), as far as one member must be found in it.
enum DictionaryField {
    /// More than these fields need, with other signatures in them.
    static let byteLimit = 4096

    /// More members than any request has.
    static let memberLimit = 16

    /// The value of the only member with a name; nil when there is none, when there are two, and for a field that is too
    /// long, has too many members, or characters other than visible ASCII and spaces.
    static func member(_ name: String, of field: String) -> Substring? {
        guard field.utf8.count <= byteLimit, field.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        var found: Substring?
        var isFound = false
        guard let members = members(of: field) else { return nil }
        for member in members {
            let text = member.trimmedASCII
            guard text.starts(withExactly: name + "=") else { continue }
            if isFound { return nil }
            isFound = true
            found = text.dropFirst(name.utf8.count + 1)
        }
        return found
    }

    /// The parts between commas that are in no quoted text; nil when there are too many.
    private static func members(of field: String) -> [Substring]? {
        var members: [Substring] = []
        var start = field.utf8.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in field.utf8.indices {
            switch field.utf8[index] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                guard members.count + 1 < memberLimit else { return nil }
                members.append(field[start..<index])
                start = field.utf8.index(after: index)
            default: break
            }
        }
        return members + [field[start...]]
    }
}
