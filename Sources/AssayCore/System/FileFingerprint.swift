#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What tells one state of some files from another: names, sizes, times, and which files they are; never their
/// contents.
///
/// Symbolic links are followed, so that a link that is pointed elsewhere counts as a change, as with a Kubernetes
/// ConfigMap's `..data`.
public struct FileFingerprint: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        @Exact private(set) var path: String
        /// Device, inode, kind and rights, size, and the times of the last changes of content and of status in
        /// nanoseconds; or the number of the error.
        let status: [Int64]
    }

    private let entries: [Entry]

    /// The state of these files and folders, existing or not.
    public init(of paths: [String]) {
        entries = paths.map { Entry(path: $0, status: FileFingerprint.status(of: $0)) }
    }

    /// Whether any of them exists.
    public var hasFiles: Bool { entries.contains { $0.status.count > 1 } }

    /// Whether of each one it is known whether it exists: a folder on the way to it may be closed.
    package var isKnown: Bool {
        entries.allSatisfy { $0.status.count > 1 || [Int64(ENOENT), Int64(ENOTDIR)].contains($0.status[0]) }
    }

    private static func status(of path: String) -> [Int64] {
        var status = stat()
        guard stat(path, &status) == 0 else { return [Int64(errno)] }
        #if canImport(Darwin)
        let (content, change) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (content, change) = (status.st_mtim, status.st_ctim)
        #endif
        return [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
            Int64(truncatingIfNeeded: status.st_mode), Int64(truncatingIfNeeded: status.st_size),
            Int64(truncatingIfNeeded: content.tv_sec), Int64(truncatingIfNeeded: content.tv_nsec),
            Int64(truncatingIfNeeded: change.tv_sec), Int64(truncatingIfNeeded: change.tv_nsec),
        ]
    }
}
