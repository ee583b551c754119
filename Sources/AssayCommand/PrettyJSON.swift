internal import AssayCore

/// JSON for people: indented, with what is short on one line.
enum PrettyJSON {
    private static let width = 100

    static func text(of json: JSON) -> String {
        var text = ""
        write(json, indent: 0, before: 0, to: &text)
        return text
    }

    /// - Parameter before: how much of the line is taken by what stands before the value.
    private static func write(_ json: JSON, indent: Int, before: Int, to text: inout String) {
        let short = line(json)
        if 2 * indent + before + short.count <= width, json.members?.contains(where: { $0.value.isNested }) != true {
            text += short
            return
        }
        switch json {
        case .object(let members):
            write(members, "{", "}", indent, to: &text) { member, text in
                let name = "\(line(.string(member.name))): "
                text += name
                write(member.value, indent: indent + 1, before: name.count, to: &text)
            }
        case .array(let elements):
            write(elements, "[", "]", indent, to: &text) { element, text in
                write(element, indent: indent + 1, before: 0, to: &text)
            }
        default:
            text += short
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, _ indent: Int, to text: inout String,
        _ body: (Item, inout String) -> Void
    ) {
        let newline = "\n" + String(repeating: "  ", count: indent)
        text += open
        for (index, item) in items.enumerated() {
            text += (index > 0 ? "," : "") + newline + "  "
            body(item, &text)
        }
        text += newline + close
    }

    /// The value in one line, with spaces.
    private static func line(_ json: JSON) -> String {
        switch json {
        case .object(let members) where members.isEmpty: "{}"
        case .object(let members):
            "{ " + members.map { "\(line(.string($0.name))): \(line($0.value))" }.joined(separator: ", ") + " }"
        case .array(let elements): "[" + elements.map(line).joined(separator: ", ") + "]"
        default: String(decoding: json.encoded, as: UTF8.self)
        }
    }
}

extension JSON {
    /// Whether it is an object or an array with something in it.
    fileprivate var isNested: Bool {
        switch self {
        case .object(let members): !members.isEmpty
        case .array(let elements): elements.contains { $0.isNested }
        default: false
        }
    }
}
