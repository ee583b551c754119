#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Opens files that an operator names, to read them.
///
/// A pipe, a socket, a device or a folder in the place of a file is refused at once: reading one could wait for ever, or have no end.
package enum RegularFile {
    /// Why a file cannot be opened.
    package struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The path, with the system's message.
        @Exact package private(set) var description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// Opens a regular file to read it; symbolic links are followed.
    ///
    /// - Returns: the descriptor, which the caller closes.
    /// - Throws: ``Failure`` when it cannot be opened, or is not a regular file.
    package static func open(_ path: String) throws(Failure) -> Int32 {
        // Without O_NONBLOCK, opening a pipe would wait for its writer.
        let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            // What the system says of a socket is that it has no such device.
            guard errno != ENXIO else { throw notRegular(path) }
            throw Failure("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw notRegular(path)
        }
        return descriptor
    }

    private static func notRegular(_ path: String) -> Failure { Failure("\(path) is not a regular file") }
}

// Inside the type above, the name means its own method.

private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
