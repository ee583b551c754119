package import AssayCore

/// The way from the root of a file to a value; written out only when a diagnostic needs it.
package indirect enum YAMLPath: Sendable, CustomStringConvertible {
    case root
    case child(YAMLPath, ConfigurationError.Component)

    package func key(_ key: String) -> YAMLPath { .child(self, .key(key)) }

    package func index(_ index: Int) -> YAMLPath { .child(self, .index(index)) }

    package func appending(_ components: some Sequence<ConfigurationError.Component>) -> YAMLPath {
        components.reduce(self) { .child($0, $1) }
    }

    /// The steps from the root.
    package var components: [ConfigurationError.Component] {
        var reversed: [ConfigurationError.Component] = []
        var path = self
        while case .child(let parent, let component) = path {
            reversed.append(component)
            path = parent
        }
        return reversed.reversed()
    }

    /// `projects[0].apps[1].token_ttl`; a key that is not a plain word is written `["…"]`.
    package var description: String {
        var text = ""
        for component in components {
            switch component {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where Self.isWord(key): text += text.isEmpty ? key : ".\(key)"
            case .key(let key): text += "[\"\(DisplayText.shown(key))\"]"
            }
        }
        return text
    }

    private static func isWord(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.count <= 60
            && key.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }
}

/// One step of a coding path.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(_ component: ConfigurationError.Component) {
        switch component {
        case .key(let key): self.init(stringValue: key)
        case .index(let index): self.init(intValue: index)
        }
    }
}

extension YAMLPath {
    var codingPath: [any CodingKey] { components.map(PathKey.init) }
}

extension ConfigurationError.Component {
    init(_ key: any CodingKey) {
        self = key.intValue.map { .index($0) } ?? .key(key.stringValue)
    }
}
