internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The contents of `/proc/self/stat` (proc(5)).
struct ProcessStatus {
    let virtualBytes: Double
    let residentBytes: Double
    /// In Unix time; nil if the time of the system's start is unknown.
    let startTime: Double?

    /// Nil if the system has no such file.
    static func read() -> ProcessStatus? {
        // The second field, the name in parentheses, may contain anything; the last parenthesis ends it.
        guard let text = contents(of: "/proc/self/stat"), let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let fields = text[end...].split(onASCII: " ").filter { !$0.isEmpty }.dropFirst()
        // The first of these is the third field in the manual.
        let values = Array(fields)
        guard values.count > 21, let started = Double(values[19]), let virtual = Double(values[20]),
            let pages = Double(values[21])
        else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return ProcessStatus(
            virtualBytes: virtual, residentBytes: pages * Double(sysconf(Int32(_SC_PAGESIZE))),
            startTime: systemStart().map { $0 + started / ticks })
    }

    /// How many file descriptors are open, except the one that is needed to count them.
    static func openDescriptors() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return max(0, count - 1)
    }

    private static func systemStart() -> Double? {
        contents(of: "/proc/stat")?.split(onASCII: "\n").first { $0.starts(withExactly: "btime ") }
            .flatMap { Double(Substring($0.utf8.dropFirst("btime ".utf8.count))) }
    }

    private static func contents(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while bytes.count < 1 << 20 {
            let count = readBytes(descriptor, &buffer)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

// Inside the type above, the name means its own method.

private func readBytes(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}
