public import AssayYAML

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The folder that an operator keeps policies in: its files `*.yaml` and `*.yml`, in the order of their names.
public struct PolicyDirectory: Sendable {
    public let path: String

    private static let fileLimit = 1024
    private static let byteLimit = 64 << 20

    public init(_ path: String) {
        self.path = path
    }

    /// Reads the files; hidden ones, subfolders and files with another ending are passed over.
    ///
    /// - Throws: ``Diagnostics`` when the folder or a file cannot be read, when there is no policy file at all, and when
    ///   there are more than 1024 files or 64 MiB.
    public func files() throws(Diagnostics) -> [PolicyFile] {
        var files: [PolicyFile] = []
        var total = 0
        for name in try names() {
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            let bytes = try contents(of: file, limit: PolicyDirectory.byteLimit - total)
            total += bytes.count
            files.append(PolicyFile(name: file, bytes: bytes))
        }
        guard !files.isEmpty else { throw problem(path, "holds no policy: no file that ends in .yaml or .yml") }
        return files
    }

    /// Reads and loads the files.
    public func load() throws(Diagnostics) -> PolicySet {
        try PolicySet.load(try files())
    }

    private func names() throws(Diagnostics) -> [String] {
        guard let directory = opendir(path) else { throw problem(path, String(cString: strerror(errno))) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), name.hasSuffix(".yaml") || name.hasSuffix(".yml") else { continue }
            names.append(name)
            guard names.count <= PolicyDirectory.fileLimit else {
                throw problem(path, "holds more than \(PolicyDirectory.fileLimit) policy files")
            }
        }
        return names.sorted()
    }

    private func contents(of file: String, limit: Int) throws(Diagnostics) -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw problem(file, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem(file, "is not a regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem(file, String(cString: strerror(errno))) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
            guard bytes.count <= limit else {
                throw problem(file, "the policies are larger than \(PolicyDirectory.byteLimit >> 20) MiB together")
            }
        }
    }

    private func problem(_ place: String, _ message: String) -> Diagnostics {
        Diagnostics(Diagnostic(location: nil, path: place, message: message))
    }
}
