package import AssayKit

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
            && key.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
