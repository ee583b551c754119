internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Reads the section `rate_limit` of an app or an OAuth client.
enum RateLimitReader {
    static let key = "rate_limit"

    /// The limit; nil when it is wrong, which is reported.
    static func read(_ value: YAMLValue) -> RateLimit? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let requests = section.required("requests").flatMap { count($0) }
        var interval = RateLimit.standardInterval
        if let value = section.optional("interval"), let stated = value.decode(Duration.self) {
            if RateLimit.intervals.contains(stated) {
                interval = stated
            } else {
                value.report("expected a duration from 1s to 1d")
            }
        }
        let burst = section.optional("burst").flatMap { count($0) }
        guard let requests else { return nil }
        return RateLimit(requests: requests, interval: interval, burst: burst ?? requests)
    }

    private static func count(_ value: YAMLValue) -> Int? {
        guard let count = value.decode(Int.self) else { return nil }
        guard RateLimit.counts.contains(count) else {
            value.report("expected a number from 1 to 1000000")
            return nil
        }
        return count
    }
}

/// Reads the key `consumption` of a section.
enum ConsumptionReader {
    static let key = "consumption"

    static func read(_ section: YAMLMapping) -> ConsumptionScope {
        guard let value = section.optional(key), let name = value.decode(String.self) else { return .shared }
        guard let scope = ConsumptionScope(exactly: name) else {
            let known = ConsumptionScope.allCases.map(\.rawValue)
            value.report("expected shared or separate", hint: Spelling.guess(for: name, among: known))
            return .shared
        }
        return scope
    }
}

/// The key that lets a part of a project accept tokens of providers for development.
enum DevelopmentSwitch {
    static let key = "accept_development"

    /// Whether the switch is on; nil when it is absent.
    ///
    /// - Parameter sink: collects what a server for production refuses.
    static func read(_ section: YAMLMapping, into sink: DiagnosticSink) -> Bool? {
        guard let value = section.optional(key), let isOn = value.decode(Bool.self) else { return nil }
        if isOn {
            YAMLValue(value.node, path: value.path, sink: sink).report(
                "`\(key)` is for development, and this server is for production",
                hint: "leave it out, or write `false`")
        }
        return isOn
    }
}

/// Reads the key `stage` of a project.
enum StageReader {
    static let key = "stage"

    /// - Parameter sink: collects what a server for production refuses.
    static func read(_ section: YAMLMapping, development sink: DiagnosticSink) -> ProjectStage {
        guard let value = section.optional(key), let name = value.decode(String.self) else { return .production }
        guard let stage = ProjectStage(exactly: name) else {
            value.report(
                "expected development or production",
                hint: Spelling.guess(for: name, among: ProjectStage.allCases.map(\.rawValue)))
            return .production
        }
        if stage == .development {
            YAMLValue(value.node, path: value.path, sink: sink).report(
                "this project is for development, and this server is for production", hint: "leave `stage` out")
        }
        return stage
    }
}
