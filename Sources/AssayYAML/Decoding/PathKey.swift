internal import AssayKit

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
