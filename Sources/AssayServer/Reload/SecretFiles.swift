public import AssayCore
public import AssayEngine
internal import AssayPolicy
internal import Logging
internal import Synchronization

/// The files of secrets that policies refer to, so that changed ones are noticed.
public final class SecretFiles: Sendable {
    private struct State {
        /// By path, as each was before it was last read.
        var read: [ExactText: FileFingerprint] = [:]
        /// Whether what was read last could not be put in force.
        var hasFailed = false
    }

    private let state = Mutex(State())

    private static let limit = 10_000

    /// No files yet.
    public init() {}

    /// A source that reads as another one does, and has its files noted here.
    public func noting(_ source: SecretSource) -> SecretSource {
        source.noting { [self] reference in
            guard case .file(let path) = reference.place else { return }
            let fingerprint = FileFingerprint(of: [path])
            state.withLock { state in
                guard state.read.count < Self.limit || state.read[ExactText(path)] != nil else { return }
                state.read[ExactText(path)] = fingerprint
            }
        }
    }

    var paths: [String] { state.withLock { $0.read.keys.map(\.string).sortedExactly() } }

    /// Whether a file is another one than the one that was read, or the last attempt failed.
    var needReading: Bool {
        let (read, hasFailed) = state.withLock { ($0.read, $0.hasFailed) }
        return hasFailed || read.contains { $0.value != FileFingerprint(of: [$0.key.string]) }
    }

    func note(isFailed: Bool) { state.withLock { $0.hasFailed = isFailed } }
}

extension ReloadSubject {
    /// The files of the secrets that policies refer to: when one changes, the policies in force are put in force again with
    /// it, whole or not at all.
    ///
    /// Changed policies are applied with their secrets by ``policies(in:for:loaded:present:then:refused:)``.
    public static func secretFiles(
        _ files: SecretFiles, of source: some PolicySource, for engine: Engine
    ) -> ReloadSubject {
        // The first check finds all files, and compares each with what was read.
        ReloadSubject(
            "secret files", fingerprint: { FileFingerprint(of: files.paths) }, loaded: FileFingerprint(of: [])
        ) {
            guard files.needReading else { return nil }
            let policies = source.read()
            // Others come into force by themselves.
            guard policies.problems == nil, policies.revision == engine.revision else { return nil }
            do {
                try engine.replacePolicies(policies)
                files.note(isFailed: false)
            } catch {
                files.note(isFailed: true)
                throw error
            }
            return ["files": "\(files.paths.count)"]
        }
    }
}
