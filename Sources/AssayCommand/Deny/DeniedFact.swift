internal import AssayCore

/// A fact that an entry of the deny list demands: its name, and its value as it was typed.
struct DeniedFact: Sendable {
    let name: String
    let text: String

    /// The value in JSON, by the type of the fact.
    ///
    /// Of a fact that is only known to the server, whole numbers and truth values are no texts.
    func value(among facts: [FactName]) -> JSON {
        let number = Int64(text).map { JSON.integer($0) }
        let truth: JSON? = text.isExactly("true") ? true : text.isExactly("false") ? false : nil
        switch facts.first(where: { $0.text.isExactly(name) })?.type {
        case .integer?: return number ?? .string(text)
        case .bool?: return truth ?? .string(text)
        case .text?, .words?, .version?, .digest?, .instant?, .duration?: return .string(text)
        case nil: return number ?? truth ?? .string(text)
        }
    }
}

extension ArgumentReader<DeniedFact> {
    /// A fact and its value.
    static var deniedFact: Self {
        ArgumentReader(accepted: "NAME=VALUE, such as bundle_version=1.2.3") { text throws(ArgumentCause) in
            guard let end = text.firstIndex(ofASCII: "=") else { throw "no equals sign" }
            guard end > text.startIndex else { throw "no name" }
            return DeniedFact(name: String(text[..<end]), text: String(text[text.index(after: end)...]))
        }
    }
}
