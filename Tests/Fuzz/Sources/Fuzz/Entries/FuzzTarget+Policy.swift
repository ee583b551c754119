internal import AssayAppAttest
internal import AssayCore
internal import AssayDebug
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML
internal import Logging

extension FuzzTarget {
    func judgePolicy(_ input: [UInt8]) throws -> FuzzVerdict {
        let policies: PolicySet
        do throws(Diagnostics) {
            policies = try PolicySet.load([PolicyFile(name: Self.file, bytes: input)])
        } catch {
            try judge(error, of: input)
            return .refused("policy")
        }
        let registry = try Self.registry.get()
        do throws(Diagnostics) {
            try policies.check(registry, host: Self.host)
        } catch {
            try judge(error, of: input)
            return .refused("plugin")
        }
        return .accepted
    }

    private static let file = "fuzz.yaml"
    private static let registry = Result {
        try Registry([.provider(AppAttestProvider.self), .provider(DebugProvider.self)])
    }

    /// A host that reads neither files nor the environment: `env:` is never set, and every file holds one secret.
    private static let host = PluginHost(
        store: MemoryStore(clock: .system),
        secrets: SecretSource { reference in
            guard case .file = reference.place else { return nil }
            return Array("6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10".utf8)
        },
        logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }))

    private func judge(_ problems: Diagnostics, of input: [UInt8]) throws(BrokenPromise) {
        try BrokenPromise.unless(!problems.all.isEmpty, "a refusal has a reason")
        for scalar in problems.description.unicodeScalars where scalar != "\n" && scalar != "\t" {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                throw BrokenPromise("a message steers the terminal: U+\(String(scalar.value, radix: 16))")
            default: break
            }
        }
        for problem in problems.all {
            guard let place = problem.location else { continue }
            try BrokenPromise.unless(place.file == Self.file, "a problem is in the file")
            try BrokenPromise.unless(
                (1...input.count + 1).contains(place.line) && (1...input.count + 2).contains(place.column),
                "a problem is within the file: \(place)")
        }
    }
}
