internal import AssayCore
internal import AssayEngine

/// The filter of a list of resource policies: comparisons with AND between them (AIP-160, the forms that Google's
/// service documents for this method).
///
///     enforcement_mode = ENFORCED AND target_resource = "//oauth2.googleapis.com/projects/1/oauthClients/a"
struct ResourcePolicyFilter: Sendable {
    private enum Field: Sendable {
        case enforcementMode(EnforcementMode)
        case targetResource(String)
    }

    private struct Comparison: Sendable {
        let field: Field
        let isEqual: Bool
    }

    private let comparisons: [Comparison]

    /// - Parameter text: empty for all.
    init(_ text: String) throws(InvalidRequest) {
        var words = try ResourcePolicyFilter.words(text)[...]
        var comparisons: [Comparison] = []
        while let name = words.popFirst() {
            guard let sign = words.popFirst(), let value = words.popFirst(), sign.isSign("=") || sign.isSign("!=")
            else { throw ResourcePolicyFilter.malformed }
            comparisons.append(
                Comparison(field: try ResourcePolicyFilter.field(name, value), isEqual: sign.isSign("=")))
            guard let and = words.popFirst() else { break }
            guard and.isWord("AND"), !words.isEmpty else { throw ResourcePolicyFilter.malformed }
        }
        self.comparisons = comparisons
    }

    func matches(_ policy: ResourcePolicy) -> Bool {
        comparisons.allSatisfy { comparison in
            let isEqual =
                switch comparison.field {
                case .enforcementMode(let mode): policy.enforcement == mode
                case .targetResource(let target): policy.target.isExactly(target)
                }
            return isEqual == comparison.isEqual
        }
    }

    private static let malformed = InvalidRequest(
        "the field 'filter' must be comparisons of enforcement_mode or target_resource by = or != with AND between them"
    )

    private static func field(_ name: Word, _ value: Word) throws(InvalidRequest) -> Field {
        guard let text = value.value else { throw malformed }
        if name.isWord("enforcement_mode") || name.isWord("enforcementMode") {
            guard let mode = EnforcementMode(exactly: text) else { throw malformed }
            return .enforcementMode(mode)
        }
        guard name.isWord("target_resource") || name.isWord("targetResource") else { throw malformed }
        return .targetResource(text)
    }

    private enum Word {
        case word(String)
        case quoted(String)
        case sign(String)

        func isWord(_ expected: String) -> Bool {
            if case .word(let text) = self { text.isExactly(expected) } else { false }
        }

        func isSign(_ expected: String) -> Bool {
            if case .sign(let text) = self { text.isExactly(expected) } else { false }
        }

        /// The word as the value of a comparison.
        var value: String? {
            switch self {
            case .word(let text), .quoted(let text): text
            case .sign: nil
            }
        }
    }

    /// The words of a filter; a text in quotation marks is one.
    private static func words(_ text: String) throws(InvalidRequest) -> [Word] {
        guard text.utf8.count <= 2048 else { throw malformed }
        var words: [Word] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            switch first {
            case " ", "\t": rest.removeFirst()
            case "=":
                rest.removeFirst()
                words.append(.sign("="))
            case "!":
                guard rest.dropFirst().first == "=" else { throw malformed }
                rest.removeFirst(2)
                words.append(.sign("!="))
            case "\"", "'":
                guard let end = rest.dropFirst().firstIndex(of: first) else { throw malformed }
                let quoted = rest[..<end].dropFirst()
                guard !quoted.contains("\\") else { throw malformed }
                words.append(.quoted(String(quoted)))
                rest = rest[end...].dropFirst()
            default:
                let word = rest.prefix { !" \t=!\"'()<>,:".unicodeScalars.contains($0) }
                guard !word.isEmpty else { throw malformed }
                words.append(.word(String(word)))
                rest = rest.dropFirst(word.count)
            }
        }
        return words
    }
}
