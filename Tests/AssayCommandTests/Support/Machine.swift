import AssayTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What this machine allows a test.
enum Machine {
    /// Whether this process, and with it the servers that it starts, was built with a sanitizer, which needs memory for
    /// itself.
    static let hasSanitizer = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// Raises the limit on open files of this process, which its children inherit.
    ///
    /// Returns whether it is enough.
    static func allowsOpenFiles(_ count: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return false }
        if limit.rlim_cur >= count { return true }
        guard limit.rlim_max >= count else { return false }
        limit.rlim_cur = limit.rlim_max
        return setrlimit(openFiles, &limit) == 0
    }

    #if os(Linux)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Changes how many files a process may have open, or how large one may get, and gives the limit before.
    @discardableResult
    static func limit(_ resource: __rlimit_resource, to count: UInt, of process: Int32) throws -> UInt {
        // The Swift module of glibc does not have it.
        typealias Prlimit =
            @convention(c) (
                Int32, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?
            ) -> Int32
        guard let symbol = dlsym(nil, "prlimit") else { throw RawSocket.Failure(saying: "there is no prlimit here") }
        let prlimit = unsafeBitCast(symbol, to: Prlimit.self)
        var before = rlimit()
        guard prlimit(process, Int32(resource.rawValue), nil, &before) == 0 else { throw RawSocket.Failure("prlimit") }
        var after = before
        after.rlim_cur = rlim_t(count)
        guard prlimit(process, Int32(resource.rawValue), &after, nil) == 0 else { throw RawSocket.Failure("prlimit") }
        return UInt(before.rlim_cur)
    }

    /// Whether a file system of its own can be made for a test.
    static let canMount = {
        guard geteuid() == 0 else { return false }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-mount-\(UUID().uuidString)")
        guard (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil else {
            return false
        }
        defer { rmdir(folder.path) }
        guard mount("assay-test", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        umount2(folder.path, Int32(MNT_DETACH))
        return true
    }()

    /// A folder on a small file system of its own.
    static func withSmallDisk<Value>(bytes: Int, _ body: (URL) async throws -> Value) async throws -> Value {
        try await withTemporaryFolder { folder in
            guard mount("assay-test", folder.path, "tmpfs", 0, "size=\(bytes),mode=0700") == 0 else {
                throw RawSocket.Failure("mount")
            }
            defer { umount2(folder.path, Int32(MNT_DETACH)) }
            return try await body(folder)
        }
    }
    #else
    private static let openFiles = RLIMIT_NOFILE
    #endif
}
