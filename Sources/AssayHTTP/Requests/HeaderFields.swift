internal import AssayCore

/// The header fields of a request or a reply, in their order.
///
/// Names are compared without regard to the case of ASCII letters, and otherwise by their bytes.
public struct HeaderFields: Sendable, RandomAccessCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
    /// A field's name and its value.
    public typealias Element = (name: String, value: String)

    private var fields: [Element]

    private static let memberLimit = 64

    /// Makes an empty list.
    public init() {
        fields = []
    }

    /// Makes the list from an array literal of names and values.
    public init(arrayLiteral fields: Element...) {
        self.fields = fields
    }

    /// Makes the list from another library's fields, in their order.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        self.fields = Array(fields)
    }

    /// The position of the first field.
    public var startIndex: Int { 0 }
    /// The position after the last field.
    public var endIndex: Int { fields.count }

    /// The field at a position.
    public subscript(position: Int) -> Element { fields[position] }

    /// Replaces the fields of a range by others.
    public mutating func replaceSubrange(_ range: Range<Int>, with other: some Collection<Element>) {
        fields.replaceSubrange(range, with: other)
    }

    /// Adds a field after the others.
    public mutating func append(_ field: Element) {
        fields.append(field)
    }

    /// Reserves room for a number of fields.
    public mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// The same fields without white space around their values.
    var trimmed: HeaderFields {
        let isTrimmed = fields.allSatisfy { $0.value.utf8.trimmedASCII.count == $0.value.utf8.count }
        return isTrimmed ? self : HeaderFields(fields.map { ($0.name, String($0.value.trimmedASCII)) })
    }

    /// The values of all fields of a name, in their order.
    public subscript(name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name.isExactlyIgnoringASCIICase(name) { values.append(field.value) }
        return values
    }

    /// Whether there is a field with a name.
    public func contains(_ name: String) -> Bool {
        fields.contains { $0.name.isExactlyIgnoringASCIICase(name) }
    }

    /// The members of fields whose value is a comma-separated list (RFC 9110, section 5.6.1), without white space
    /// around them.
    ///
    /// At most 64 members are separated, more than any client sends. The rest is one member, which equals no known one.
    public func members(of name: String) -> [Substring] {
        var members: [Substring] = []
        for field in fields where field.name.isExactlyIgnoringASCIICase(name) {
            let room = members.count < HeaderFields.memberLimit ? HeaderFields.memberLimit - members.count : 0
            members += field.value.split(onASCII: ",", maxSplits: room).map(\.trimmedASCII)
        }
        return members
    }
}
