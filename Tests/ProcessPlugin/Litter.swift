#if Processes
import Foundation

/// What a careless plugin leaves behind: files in its working folder, and processes that it detached.
enum Litter {
    /// - Returns: the working folder, then the detached processes: one in a session of its own, whose parent has ended, and one in the
    ///   plugin's session but with a group of its own and without the plugin's environment.
    static func make() throws -> String {
        let folder = FileManager.default.currentDirectoryPath
        var deep = URL(fileURLWithPath: folder)
        for _ in 0..<80 { deep.appendPathComponent("d") }
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        for place in [URL(fileURLWithPath: folder), deep] {
            try Data("kept".utf8).write(to: place.appendingPathComponent("cache"))
        }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "/tmp")
        let closed = "\(folder)/closed"
        try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: "\(closed)/file"))
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
        let detached = try run("setsid sleep 100000 >/dev/null 2>&1 & echo $!")
        let grouped = try run("set -m; env -i sleep 100000 >/dev/null 2>&1 & echo $!")
        return "\(folder) \(detached) \(grouped)"
    }

    /// The first line that a script writes; Foundation's `Process` would wait for what the script leaves behind, too.
    private static func run(_ script: String) throws -> String {
        guard let output = popen(script, "r") else { throw CocoaError(.fileReadUnknown) }
        defer { pclose(output) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, CInt(line.count), output) != nil else { throw CocoaError(.fileReadUnknown) }
        return String(decoding: line.prefix { $0 >= 0x20 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
