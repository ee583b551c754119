#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads the lines of what has no beginning to go back to: of standard input.
package enum AuditStream {
    private static let pieceSize = 262_144

    /// Passes each line on, in order; what begins like gzip is decompressed, within the bound of all audit files.
    ///
    /// - Parameter name: how errors name it.
    /// - Throws: ``AuditFileError`` when it cannot be read to its end.
    package static func lines(
        of descriptor: Int32, name: String, _ body: (LineSplitter.Line) -> Void
    ) throws(AuditFileError) {
        var splitter = LineSplitter()
        var inflater: Inflater?
        var isFirst = true
        while case let piece = try piece(of: descriptor, name: name), !piece.isEmpty {
            if isFirst, piece.starts(with: Inflater.magic) { inflater = try Inflater() }
            isFirst = false
            guard let inflater else {
                splitter.add(piece, body)
                continue
            }
            inflater.feed(piece)
            while let bytes = try expanded(inflater, name: name) { splitter.add(bytes, body) }
        }
        if inflater?.isWithinMember ?? false { throw AuditFileError("\(name): the gzip data is cut off") }
        splitter.finish(body)
    }

    private static func expanded(_ inflater: Inflater, name: String) throws(AuditFileError) -> [UInt8]? {
        do throws(AuditFileError) {
            guard case .bytes(let bytes, _) = try inflater.next() else { return nil }
            return bytes
        } catch {
            throw AuditFileError("\(name): \(error.message)")
        }
    }

    /// The next bytes, as many as there is room for, so that the first two come together; none at the end.
    private static func piece(of descriptor: Int32, name: String) throws(AuditFileError) -> [UInt8] {
        var filled = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: pieceSize) { buffer, count in
            while filled < pieceSize {
                let got = read(descriptor, buffer.baseAddress.map { $0 + filled }, pieceSize - filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { code = errno }
                guard got > 0 else { break }
                filled += got
            }
            count = filled
        }
        guard code == 0 else { throw AuditFileError("cannot read \(name): \(String(cString: strerror(code)))") }
        return bytes
    }
}
