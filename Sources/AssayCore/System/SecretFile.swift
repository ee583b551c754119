#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that holds a secret, such as a private key.
///
/// One rule holds for all of them (see `FileAccess`): the owner is root or the user of this process, a group may read
/// the file if this process is a member of it, and no other user has rights on it. Symbolic links are followed, as
/// Kubernetes mounts secrets behind them; the check applies to the file that was opened, so that it cannot be replaced
/// meanwhile.
package enum SecretFile {
    /// The contents of a file.
    ///
    /// - `limit`: the largest size, in bytes.
    /// - Throws: ``SecretError`` when the file cannot be read, is not a regular file, is larger than the limit, or when
    ///   its mode allows more than the rule. The error has the mode and a command that corrects it, and never the
    ///   content of the file.
    package static func read(_ path: String, limit: Int) throws(SecretError) -> [UInt8] {
        try read(path, limit: limit, isSecret: true)
    }

    /// - Parameter isSecret: whether it matters who may read the file: false for public keys and certificates.
    package static func read(_ path: String, limit: Int, isSecret: Bool) throws(SecretError) -> [UInt8] {
        // Without O_NONBLOCK a pipe in the file's place would be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        if isSecret {
            try judge(descriptor, path: path)
        } else {
            _ = try status(descriptor, path: path)
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = readBytes(descriptor, &buffer)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else { throw SecretError("\(path) is larger than \(limit) bytes") }
        }
    }

    /// Judges a file that is open already, by the same rule.
    ///
    /// - Parameters:
    ///   - descriptor: of the open file.
    ///   - folder: where root may also use a file of the folder's owner: for files that Assay makes itself, which root
    ///     leaves to the user that the server runs as.
    package static func judge(_ descriptor: Int32, path: String, ownedAs folder: String? = nil) throws(SecretError) {
        let status = try status(descriptor, path: path)
        let access = FileAccess(
            owner: status.st_uid, group: status.st_gid, mode: UInt32(status.st_mode), grants: grants(descriptor))
        var process = ProcessIdentity.current
        var parent = stat()
        if process.user == 0, let folder, stat(folder, &parent) == 0 { process.trustedOwners.insert(parent.st_uid) }
        if let problem = access.problem(for: process, path: path) { throw SecretError(problem) }
    }

    private static func status(_ descriptor: Int32, path: String) throws(SecretError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("inspect", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SecretError("\(path) is not a regular file") }
        return status
    }

    /// The access control list of a file, which systemd gives its credentials; nil for one that has none.
    private static func grants(_ descriptor: Int32) -> [FileAccess.Grant]? {
        #if os(Linux)
        // The Swift module of glibc does not have it.
        typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int
        guard let symbol = dlsym(nil, "fgetxattr") else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafeBitCast(symbol, to: Call.self)(
            descriptor, "system.posix_acl_access", &bytes, bytes.count)
        return count > 0 ? FileAccess.grants(Array(bytes.prefix(count))) : nil
        #else
        return nil
        #endif
    }

    private static func failure(_ action: String, _ path: String) -> SecretError {
        SecretError("cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}

extension ProcessIdentity {
    /// This process.
    static var current: ProcessIdentity {
        var groups: Set<UInt32> = [getegid()]
        let count = getgroups(0, nil)
        if count > 0 {
            var list = [gid_t](repeating: 0, count: Int(count))
            let filled = getgroups(count, &list)
            groups.formUnion(list.prefix(Int(max(0, filled))))
        }
        return ProcessIdentity(user: geteuid(), groups: groups)
    }
}

// Inside the type above, the name means its own method.
private func readBytes(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}
