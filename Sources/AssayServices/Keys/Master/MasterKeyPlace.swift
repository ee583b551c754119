internal import AssayCore
internal import AssayCrypto
public import AssayEngine
public import AssayKit

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where a master key is: `file:PATH`, `env:NAME`, or the URI of a key in a token (`pkcs11:…`, RFC 7512).
package struct MasterKeyPlace: Sendable, CustomStringConvertible {
    private enum Kind: Sendable {
        case secret(SecretReference)
        case token(PKCS11URI)
    }

    private let kind: Kind

    /// A place from its text.
    ///
    /// - Throws: `KeyVaultError` with what is expected. It never repeats the text, which may be a key.
    package init(_ text: String) throws(KeyVaultError) {
        if text.starts(withExactly: PKCS11URI.scheme) {
            kind = .token(try PKCS11URI(text))
        } else if let reference = SecretReference(text) {
            kind = .secret(reference)
        } else {
            throw KeyVaultError("a master key is named as file:PATH, env:NAME, or pkcs11:… (RFC 7512)")
        }
    }

    /// The place, without secrets.
    package var description: String {
        switch kind {
        case .secret(let reference): SafeText.of("\(reference)")
        case .token(let uri): SafeText.of("\(uri)")
        }
    }

    /// Opens the master key that is there.
    ///
    /// - Throws: `KeyVaultError` when there is none, or when it cannot be used.
    package func open(_ host: StorageHost) async throws(KeyVaultError) -> any MasterKey {
        switch kind {
        case .secret(let reference):
            return try LocalMasterKey(
                try MasterKeyText.key(reference, from: host.secrets), randomness: host.randomness)
        case .token(let uri): return try await PKCS11MasterKey.open(uri, host: host)
        }
    }

    /// Makes a new master key there, and opens it.
    ///
    /// A file is readable only by its owner, and holds Base64 text. A key in a token can never be read out of it.
    ///
    /// - Throws: `KeyVaultError` when there is something already: nothing is overwritten; and for a variable.
    package func create(_ host: StorageHost) async throws(KeyVaultError) -> any MasterKey {
        switch kind {
        case .token(let uri): return try await PKCS11MasterKey.create(uri, host: host)
        case .secret(let reference):
            guard case .file(let path) = reference.place else {
                throw KeyVaultError("a master key is made in a file or in a token, not in a variable")
            }
            var bytes = host.randomness.bytes(AES256GCM.keyByteCount)
            var text = Array(Base64.encode(bytes).utf8) + [UInt8(ascii: "\n")]
            defer {
                SecretBytes.wipe(&bytes)
                SecretBytes.wipe(&text)
            }
            try Self.write(text, to: path)
            return try LocalMasterKey(SecretBytes(bytes), randomness: host.randomness)
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(KeyVaultError) {
        let file = createFile(path)
        guard file >= 0 else {
            throw KeyVaultError(errno == EEXIST ? "\(path) exists already: nothing was written" : failure(path))
        }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { writeBytes(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        let isWhole = written == bytes.count && fsync(file) == 0
        let problem = failure(path)
        close(file)
        guard isWhole, flushFolder(of: path) else {
            unlink(path)
            throw KeyVaultError(problem)
        }
    }

    /// Flushes the folder, so that the file survives a loss of power.
    private static func flushFolder(of path: String) -> Bool {
        let parts = path.split(onASCII: "/")
        let folder = parts.dropLast().joined(separator: "/")
        let descriptor = openFolder(parts.count == 1 ? "." : folder.isEmpty ? "/" : folder)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private static func failure(_ path: String) -> String {
        "cannot write \(path): \(String(cString: strerror(errno)))"
    }
}

extension Registry {
    /// Opens the master key that a text names: `file:PATH`, `env:NAME`, or `pkcs11:…` (RFC 7512).
    ///
    /// - Throws: `KeyVaultError` with words for an operator.
    public func openMasterKey(_ name: String, host: StorageHost) async throws(KeyVaultError) -> any MasterKey {
        try await MasterKeyPlace(name).open(host)
    }
}

// Inside the type above, these names mean its own methods.

private func createFile(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
}

private func openFolder(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY) }

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
