#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#endif

/// Unpredictable bytes.
public struct Randomness: Sendable {
    private let filling: @Sendable (Int) -> [UInt8]

    /// Makes a source from a closure, which must return exactly `count` bytes.
    public init(_ bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.filling = bytes
    }

    /// That many bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        filling(count)
    }

    /// The system's cryptographic generator (`getrandom` on Linux), asked once for as many bytes as are wanted.
    public static let system = Randomness { count in
        [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, written in
            fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<max(count, 0)]))
            written = max(count, 0)
        }
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        #if canImport(Glibc)
        // It gives 256 bytes or fewer whole, or fails; it cannot give a part.
        if bytes.isEmpty || (bytes.count <= 256 && getentropy(bytes.baseAddress, bytes.count) == 0) { return }
        #endif
        var generator = SystemRandomNumberGenerator()
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let word = generator.next()
            withUnsafeBytes(of: word) { word in
                let end = min(start + 8, bytes.count)
                bytes[start..<end].copyBytes(from: word.prefix(end - start))
            }
        }
    }
}
