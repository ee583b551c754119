internal import AssayCore
internal import AssayYAML

/// Names that may be given only once, over all files.
struct ClaimedNames {
    private var locations: [ExactText: SourceLocation] = [:]

    mutating func claim(_ what: String, _ name: String, by section: YAMLMapping, key: String) {
        guard let value = section.optional(key) else { return }
        let claim = ExactText("\(what) `\(name)`")
        if let first = locations[claim] {
            value.report("\(claim) is defined twice", related: [.init(location: first, message: "first defined here")])
        } else {
            locations[claim] = value.location
        }
    }
}
