public import AssayKit
internal import Logging

/// What every `KeyVault` promises, as checks for the author of a vault.
///
///     let suite = KeyVaultSuite { host in
///         KeyVaultSuite.Subject(try await MyVault.open("…", host: host), reopen: { try await MyVault.open("…", host: host) })
///     }
///     #expect(await suite.run() == [])
///
/// Each check has its own vault. The checks, by name:
///
/// | promise | what is checked |
/// |---|---|
/// | `empty` | a vault without a document has none, and no revision |
/// | `documents` | documents of all sizes up to 1 MiB, with all bytes, come back as they were |
/// | `revisions` | each change has another revision, and none comes back, also for equal documents |
/// | `expected` | a change that expects another revision changes nothing |
/// | `races` | of many changes at once that expect one revision, one succeeds, also of the first ones |
/// | `wholeness` | who reads while others write gets one of the documents, with its revision |
/// | `reopening` | a vault that is opened again has the document and its revision |
/// | `damage` | a damaged document is an error, and never none (with `damages`) |
/// | `failing` | while its place fails, calls throw and nothing changes; later ones work (with `fails`) |
/// | `closing` | later calls throw |
/// | `secrecy` | no error, no log line has a part of a document |
public struct KeyVaultSuite: Sendable {
    /// A vault, and what the suite does to its place.
    public struct Subject: Sendable {
        let vault: any KeyVaultPlugin
        let reopen: @Sendable () async throws -> any KeyVaultPlugin
        let damages: (@Sendable () async throws -> Void)?
        let fails: (@Sendable (Bool) async throws -> Void)?

        /// Describes a vault under test.
        ///
        /// - `reopen`: opens the same place again, as another server does.
        /// - `damages`: cuts the stored document in half. Nil leaves the check `damage` out.
        /// - `fails`: makes the place of the document fail, or work again. Nil leaves the check `failing` out.
        public init(
            _ vault: any KeyVaultPlugin, reopen: @escaping @Sendable () async throws -> any KeyVaultPlugin,
            damages: (@Sendable () async throws -> Void)? = nil,
            fails: (@Sendable (Bool) async throws -> Void)? = nil
        ) {
            self.vault = vault
            self.reopen = reopen
            self.damages = damages
            self.fails = fails
        }
    }

    /// Opens a vault whose place is empty.
    public typealias Make = @Sendable (StorageHost) async throws -> Subject

    typealias Run = SuiteRun<Subject>
    typealias Check = @Sendable (Run) async throws -> Void

    private let make: Make

    /// - Parameter make: opens a vault for each check.
    public init(make: @escaping Make) {
        self.make = make
    }

    /// The checks, in their order; their names are stable.
    var checks: [SuiteCheck] {
        [
            check("empty", "a vault without a document has none, and no revision", empty),
            check("documents", "documents of all sizes up to 1 MiB, with all bytes, come back as they were", documents),
            check(
                "revisions", "each change has another revision, and none comes back, also for equal documents",
                revisions),
            check("expected", "a change that expects another revision changes nothing", expected),
            check(
                "races", "of many changes at once that expect one revision, one succeeds, also of the first ones", races
            ),
            check("wholeness", "who reads while others write gets one of the documents, with its revision", wholeness),
            check("reopening", "a vault that is opened again has the document and its revision", reopening),
            check("damage", "a damaged document is an error, and never none (with `damages`)", damage),
            check(
                "failing", "while its place fails, calls throw and nothing changes; later ones work (with `fails`)",
                failing),
            check("closing", "later calls throw", closing),
            check("secrecy", "no error, no log line has a part of a document", secrecy),
        ]
    }

    private func check(_ name: String, _ rule: String, _ check: @escaping Check) -> SuiteCheck {
        SuiteCheck(name: name, rule: rule) { _, _ in
            let log = SuiteLog()
            do {
                let subject = try await make(
                    StorageHost(logger: Logger(label: "suite") { _ in SuiteLog.Handler(log: log) }))
                let run = Run(subject: subject, log: log)
                do {
                    try await check(run)
                } catch {
                    run.expect(false, "threw \(error)")
                }
                await subject.vault.close()
                return run.outcome
            } catch {
                return .failed(["no vault could be made: \(error)"])
            }
        }
    }

    /// Runs all checks.
    ///
    /// Returns the promises that were broken, none for a good vault. What was not looked at is in the report of a
    /// ``PromiseSuite``.
    public func run() async -> [SuiteFailure] {
        await checks.lines(.quick, .ofWholeChecks).failures
    }
}
