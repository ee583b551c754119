internal import AssayCore
package import AssayKit
internal import AssayYAML

extension PolicySet {
    /// The same policies with the sections of platforms decoded into the identities of apps.
    ///
    /// Errors in them, and each key of an app that is neither the loader's nor a platform's, are added to ``problems``.
    package func reading(_ platforms: [any PlatformSection.Type]) -> PolicySet {
        let sink = DiagnosticSink()
        if let problems { sink.report(problems) }
        var byName: [ExactText: any PlatformSection.Type] = [:]
        for platform in platforms { byName[ExactText(platform.name)] = platform }
        let known = AppKeys.all + byName.keys.sorted().map(\.string)
        var result = self
        var read: [ExactText: (sections: [any PlatformSection], areSound: Bool)] = [:]
        // A client comes after the app that it is linked to.
        for (index, app) in apps.enumerated() {
            let linked = app.identity.linkedApp.flatMap { read[ExactText($0)] }
            let (sections, areSound) = linked ?? Self.read(app.sections, byName, known, sink)
            if app.identity.kind == .app { read[ExactText(app.identity.resource)] = (sections, areSound) }
            if !sections.isEmpty { result.apps[index].identity = app.identity.with(sections) }
            if !areSound { result.apps[index].isSound = false }
        }
        result.problems = sink.diagnostics
        return result
    }

    private static func read(
        _ sections: [PolicySection], _ platforms: [ExactText: any PlatformSection.Type], _ known: [String],
        _ sink: DiagnosticSink
    ) -> (sections: [any PlatformSection], areSound: Bool) {
        var found: [any PlatformSection] = []
        var areSound = true
        for section in sections {
            guard let platform = platforms[ExactText(section.name)] else {
                sink.report(section.unknownKey(known: known))
                continue
            }
            if section.isNull { continue }
            do throws(Diagnostics) {
                found.append(try section.decode(any: platform))
            } catch {
                sink.report(error)
                areSound = false
            }
        }
        return (found, areSound)
    }
}

extension PolicySection {
    fileprivate func decode<Section: PlatformSection>(
        any platform: Section.Type
    ) throws(Diagnostics) -> any PlatformSection {
        try decode(platform)
    }
}
