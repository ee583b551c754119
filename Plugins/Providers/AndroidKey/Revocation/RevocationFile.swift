internal import AssayCore
internal import AssayCrypto

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file with a list of revoked certificates.
struct RevocationFile: Sendable {
    /// What tells one content of the file from another without reading it.
    struct Mark: Sendable, Equatable {
        let changed: Int64
        let nanoseconds: Int64
        let size: Int64
        let number: UInt64
    }

    let list: RevocationList
    let mark: Mark

    /// When the file was changed, in seconds since 1970.
    var changed: Instant { Instant(seconds: mark.changed) }

    /// Reads a list; it blocks its thread, but never on a file that is no regular one, such as a pipe.
    ///
    /// - Parameter known: the mark of what is known already.
    /// - Returns: nil when nothing has changed.
    /// - Throws: `RevocationList.Malformed`, with the path.
    static func read(_ path: String, unlessAs known: Mark?) throws(RevocationList.Malformed) -> RevocationFile? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RevocationList.Malformed("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw RevocationList.Malformed("\(path) is no regular file")
        }
        let time = changeTime(status)
        let mark = Mark(
            changed: time.seconds, nanoseconds: time.nanoseconds,
            size: Int64(status.st_size), number: UInt64(status.st_ino))
        guard mark != known else { return nil }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= RevocationList.byteLimit {
            let count = part.withUnsafeMutableBytes { buffer in readBytes(descriptor, buffer.baseAddress, buffer.count)
            }
            guard count >= 0 else {
                throw RevocationList.Malformed("\(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        do throws(RevocationList.Malformed) {
            return RevocationFile(list: try RevocationList(json: bytes), mark: mark)
        } catch {
            throw RevocationList.Malformed("\(path): \(error.description)")
        }
    }

    private static func changeTime(_ status: stat) -> (seconds: Int64, nanoseconds: Int64) {
        #if canImport(Darwin)
        (Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec))
        #else
        (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        #endif
    }

    private static func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        Glibc.read(descriptor, buffer, count)
        #elseif canImport(Musl)
        Musl.read(descriptor, buffer, count)
        #else
        Darwin.read(descriptor, buffer, count)
        #endif
    }
}
