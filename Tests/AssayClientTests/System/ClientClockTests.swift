import AssayTestSupport
import Foundation
import Testing

@testable import AssayClient

@Suite("The device's clock")
struct ClientClockTests {
    @Test("it is the time since the device booted, and knows the boot")
    func boottime() throws {
        let clock = SystemClientClock()
        let first = clock.now
        #expect(clock.now >= first)
        let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let uptime = try #require(text.split(separator: " ").first.flatMap { Double($0) })
        #expect(abs(Double(first.uptime.nanoseconds) / 1_000_000_000 - uptime) < 5)
        #expect(clock.boot?.utf8.count == 36)
        #expect(clock.boot == SystemClientClock().boot)
        #expect(abs(Double(clock.unixMilliseconds) / 1000 - Date().timeIntervalSince1970) < 5)
    }

    @Test("a sleep ends at its moment, at once for a past one, and with its task")
    func sleeps() async throws {
        let clock = SystemClientClock()
        let start = clock.now
        try await clock.sleep(until: start + .milliseconds(20))
        #expect(clock.now >= start + .milliseconds(20))
        try await clock.sleep(until: start)
        let task = Task { try await clock.sleep(until: start + .minutes(60)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// What can be checked here of the promise that the sources compile for iOS 15 and macOS 12.
@Suite("Older systems")
struct OlderSystemsTests {
    /// What began with a later system, by the Swift evolution proposals and Apple's documentation.
    private static let newer = [
        // iOS 16
        "Duration", "ContinuousClock", "SuspendingClock", "Task.sleep(for", "Task.sleep(until", "OSAllocatedUnfairLock",
        "Regex", "firstMatch(of", "wholeMatch(of", "replacing(", "firstRange(of", "trimmingPrefix", "URL(filePath",
        // iOS 17 and later
        "DiscardingTaskGroup", "@Observable", "import Synchronization", "Mutex", "Atomic<", "RawSpan", "Span<",
        "InlineArray", "UInt128", "String(validating", "AsyncSequence<", "Failure>", "Task.immediate", "utf8Span",
        "isolated deinit", "next(isolation",
    ]

    @Test("the library uses nothing that is newer than iOS 15 and macOS 12")
    func sources() throws {
        let folder = repository.appendingPathComponent("Sources/AssayClient")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 30)
        for file in files {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.components(separatedBy: "//").first ?? ""
                for name in Self.newer where code.contains(name) {
                    // The one place with a branch for each system.
                    if file == "System/Lock.swift", ["import Synchronization", "Mutex"].contains(name) { continue }
                    Issue.record("\(file):\(number + 1): \(name)")
                }
            }
        }
    }

    @Test("the library imports no module of the package, and Foundation on Apple's systems alone")
    func imports() throws {
        let folder = repository.appendingPathComponent("Sources/AssayClient")
        var imported: Set<String> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for line in text.split(separator: "\n")
            where line.hasPrefix("internal import ") || line.hasPrefix("public import ") {
                let name = String(line.split(separator: " ").last ?? "")
                imported.insert(name)
                if name == "Foundation" {
                    #expect(text.hasPrefix("#if canImport(") || text.contains("\n#if canImport(DeviceCheck)\n"))
                }
            }
        }
        #expect(
            imported.isSubset(of: [
                "CryptoKit", "Darwin", "DeviceCheck", "Foundation", "Glibc", "Musl", "Security", "SwiftOverlayShims",
                "Synchronization", "os",
            ]), "\(imported)")
    }
}
