import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import Foundation
import Logging

/// Makes an empty folder, and removes it afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-audit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }

/// A record of an exchange; times are a second apart.
func record(
    _ number: Int, app: String = "1:1:ios:ab", outcome: DecisionRecord.Outcome? = nil,
    method: String = "exchangeDebugToken",
    caller: String? = nil, keyID: String? = nil, rule: String? = nil, start: Instant = Instant(seconds: 1_795_262_400)
) -> DecisionRecord {
    let time = start + .seconds(number)
    return DecisionRecord(
        decision: decision(number, start: start), time: time, duration: .milliseconds(2), method: method,
        resource: "projects/1/apps/\(app)", provider: "debug",
        outcome: outcome ?? .issued(tokenID: "t\(number)", limitedUse: false, expires: time), detail: "the detail",
        facts: keyID.map { [Fact("key_id", .text($0))] } ?? [], peer: "192.0.2.1", caller: caller,
        rules: RuleFindings(decided: rule.map { ExactText($0) }))
}

/// The identifier of a record, with its time.
func decision(_ number: Int, start: Instant = Instant(seconds: 1_795_262_400)) -> DecisionID {
    let bytes = (0..<10).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    return DecisionID(now: start + .seconds(number), randomness: Randomness { Array(bytes.prefix($0)) })
}

/// Writes records to an audit file, and closes it.
func write(
    _ numbers: Range<Int>, to path: String, rotation: AuditRotation = AuditRotation(), clock: HostClock = .system,
    logger: Logger = silent
) async throws {
    let file = try AuditFile(
        path: path, logger: logger, clock: clock, options: AuditFile.Options(rotation: rotation))
    for number in numbers { file.record(record(number)) }
    await file.close()
}

/// The lines of a file, without their ends.
func lines(_ path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
}

func save(_ lines: [String], to path: String) throws {
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
}

extension AuditVerification {
    /// What is wrong, each as the kind and the line.
    var problems: [String] {
        verifier.findings.map { "\($0.problem.rawValue) \($0.place?.line ?? 0)" }
    }
}
