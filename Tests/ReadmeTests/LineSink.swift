import AssayCore
import AssayKit
import Foundation
import Synchronization

final class LineSink: DecisionSinkPlugin {
    static let descriptor = StorageDescriptor(
        scheme: "lines", summary: "Appends decisions to a file.", location: "PATH",
        survival: .powerLoss, sharing: .process)

    private let file: Mutex<FileHandle?>
    /// Calls wait for the disk.
    private let thread = WorkerThreads(count: 1, waiting: 1)

    static func open(_ location: String, host: StorageHost) async throws(DecisionSinkError) -> LineSink {
        let descriptor = Foundation.open(location, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DecisionSinkError("lines: \(location) cannot be opened") }
        return LineSink(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    private init(_ file: FileHandle) { self.file = Mutex(file) }

    func record(_ entries: [DecisionEntry]) async throws(DecisionSinkError) {
        let lines = Data(entries.flatMap { $0.line + [UInt8(ascii: "\n")] })
        do {
            try await thread.run { [self] in try file.withLock { try Self.append(lines, to: $0) } }
        } catch {
            throw error as? DecisionSinkError ?? DecisionSinkError("lines: the file cannot be written")
        }
    }

    private static func append(_ lines: Data, to file: FileHandle?) throws {
        guard let file else { throw DecisionSinkError("lines: the sink is closed") }
        let end = try file.seekToEnd()
        do {
            try file.write(contentsOf: lines)
            try file.synchronize()
        } catch {
            // The kernel sends the same entries again: half of one must not stay.
            try file.truncate(atOffset: end)
            throw error
        }
    }

    func close() async { file.withLock { $0 = nil } }
}
