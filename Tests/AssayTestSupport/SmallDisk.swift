internal import Foundation

/// A file system of a few kilobytes, for tests of full disks; only root can mount one.
public enum SmallDisk {
    /// Whether this process can mount such a file system.
    public static let isPossible: Bool = {
        guard geteuid() == 0, let folder = makeFolder() else { return false }
        defer { rmdir(folder) }
        guard attach(folder, kibibytes: 16) else { return false }
        detach(folder)
        return true
    }()

    /// Mounts a file system for as long as `body` runs, which gets its folder.
    public static func with<Value>(kibibytes: Int, _ body: (String) async throws -> Value) async throws -> Value {
        guard let folder = makeFolder(), attach(folder, kibibytes: kibibytes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        defer {
            detach(folder)
            rmdir(folder)
        }
        return try await body(folder)
    }

    /// Gives a file system another size.
    public static func resize(_ folder: String, kibibytes: Int) -> Bool {
        #if os(Linux)
        mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT), "size=\(kibibytes)k") == 0
        #else
        false
        #endif
    }

    /// Writes zeros to a file until there is no more room.
    public static func fill(_ file: String) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for size in [4096, 1] {
            let zeros = [UInt8](repeating: 0, count: size)
            while write(descriptor, zeros, zeros.count) == zeros.count {}
        }
    }

    private static func attach(_ folder: String, kibibytes: Int) -> Bool {
        #if os(Linux)
        mount("tmpfs", folder, "tmpfs", 0, "size=\(kibibytes)k,mode=700") == 0
        #else
        false
        #endif
    }

    private static func detach(_ folder: String) {
        #if os(Linux)
        _ = umount2(folder, Int32(MNT_DETACH))
        #endif
    }

    private static func makeFolder() -> String? {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("assay-disk-\(UUID().uuidString)").path
        return mkdir(path, 0o700) == 0 ? path : nil
    }
}
