internal import AssayYAML

/// The key by which a part of a project takes tokens of providers for development.
enum DevelopmentSwitch {
    static let key = "accept_development"

    /// Whether the switch is on; nil when it is absent.
    ///
    /// - Parameter sink: takes what a server for production refuses.
    static func read(_ section: YAMLMapping, into sink: DiagnosticSink) -> Bool? {
        guard let value = section.optional(key), let isOn = value.decode(Bool.self) else { return nil }
        if isOn {
            YAMLValue(value.node, path: value.path, sink: sink).report(
                "`\(key)` is for development, and this is to be a server for production",
                hint: "leave it out, or write `false`")
        }
        return isOn
    }
}
