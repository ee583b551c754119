#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SecretSource {
    /// The process's environment and file system. Files of secrets are judged as ``SecretFile`` says.
    public static let system = SecretSource { (reference, isSecret) throws(SecretError) in
        switch reference.place {
        case .environment(let name):
            guard let value = getenv(name) else { return nil }
            let text = Array(String(cString: value).utf8)
            return text.isEmpty ? nil : text
        case .file(let path):
            var bytes = try SecretFile.read(path, limit: sizeLimit, isSecret: isSecret)
            while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            return bytes
        }
    }

    private static let sizeLimit = 65_536
}
