import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

// What the system tells of a server's process, and allows it.
extension AssayServer {
    var processID: Int32 { process.process.processIdentifier }

    var port: Int {
        get throws { try #require(base.split(separator: ":").last.flatMap { Int($0) }) }
    }

    /// A number of bytes in `/proc/PID/status`: `VmRSS` is the memory in use, `VmHWM` the most that ever was.
    func memory(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
        return try #require(line.split(separator: "\t").last?.split(separator: " ").first.flatMap { Int($0) }) * 1024
    }

    /// Does something while the process has no file descriptors left.
    ///
    /// Swift's libdispatch looks into /proc/PID/stat while its threads are busy, and ends the process when it cannot. A
    /// server leaves room for that where the limit is not tiny: it takes fewer connections than there are descriptors.
    func unlessLibdispatchEndsIt(_ body: () async throws -> Void) async throws {
        try await withKnownIssue("libdispatch needs a file descriptor", isIntermittent: true) {
            try await body()
        } matching: { _ in
            hasDied
        }
    }

    /// Whether a signal ended the process, waiting a moment for the news of it.
    private var hasDied: Bool {
        for _ in 0..<100 where process.process.isRunning { usleep(10_000) }
        return !process.process.isRunning && process.process.terminationReason == .uncaughtSignal
    }

    var openFiles: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count }
    }

    /// One request on a connection of its own.
    func ask(_ request: String) async throws -> RawSocket.Reply {
        let socket = try RawSocket(port: port)
        try await socket.sendAll(request)
        return try #require(try await socket.reply(), "the server has closed without a reply")
    }

    static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    static func head(_ method: String, length: Int, headers: String = "") -> String {
        "POST /v1/\(app):\(method) HTTP/1.1\r\nHost: a\r\n\(headers)Content-Length: \(length)\r\n\r\n"
    }

    static func post(_ method: String, _ body: JSON) -> String {
        let text = String(decoding: body.encoded, as: UTF8.self)
        return head(method, length: text.utf8.count) + text
    }
}
