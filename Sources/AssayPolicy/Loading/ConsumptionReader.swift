internal import AssayKit
internal import AssayYAML

/// Reads the key `consumption` of a section.
enum ConsumptionReader {
    static let key = "consumption"

    static func read(_ section: YAMLMapping) -> ConsumptionScope {
        guard let value = section.optional(key), let name = value.decode(String.self) else { return .shared }
        guard let scope = ConsumptionScope(exactly: name) else {
            let known = ConsumptionScope.allCases.map(\.rawValue)
            value.report("expected shared or separate", hint: Spelling.hint(for: name, among: known))
            return .shared
        }
        return scope
    }
}
