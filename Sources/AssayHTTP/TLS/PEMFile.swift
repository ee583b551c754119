internal import AssayCrypto
internal import AssayKit

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads files in PEM form.
enum PEMFile {
    private static let sizeLimit = 1 << 20

    /// The contents of a file; symbolic links are followed, as those who renew certificates point them elsewhere.
    ///
    /// - Parameter isSecret: whether a file that others than its owner may use is refused.
    static func read(_ path: String, isSecret: Bool) throws(TLSError) -> [UInt8] {
        // Without O_NONBLOCK a pipe in the file's place would be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("inspect", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw TLSError("\(path) is not a regular file") }
        if isSecret, status.st_mode & 0o077 != 0 {
            throw TLSError("others than its owner may use \(path): restrict it with chmod 600")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = readBytes(descriptor, &buffer)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= sizeLimit else { throw TLSError("\(path) is too large") }
        }
    }

    static func fingerprint(_ certificate: [UInt8]) -> String { Hex.encode(SHA256.hash(certificate)) }

    private static func failure(_ action: String, _ path: String) -> TLSError {
        TLSError("cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}

// Within the type above the name is that of its own method.
private func readBytes(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}
