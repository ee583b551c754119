#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SecretSource {
    /// The process's environment and file system.
    public static let system = SecretSource { (reference) throws(SecretError) in
        switch reference.place {
        case .environment(let name):
            guard let value = getenv(name) else { return nil }
            let text = Array(String(cString: value).utf8)
            return text.isEmpty ? nil : text
        case .file(let path):
            return try contents(of: path)
        }
    }

    private static let sizeLimit = 65_536

    private static func contents(of path: String) throws(SecretError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SecretError("cannot open \(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SecretError("cannot read \(path): \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes.append(contentsOf: buffer.prefix(count))
            guard bytes.count <= sizeLimit else { throw SecretError("\(path) is larger than \(sizeLimit) bytes") }
        }
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
