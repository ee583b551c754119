#if canImport(Glibc)
import Foundation
import Testing

@testable import AssayServer

@Suite("The heap")
struct HeapTests {
    /// The address sanitizer has an allocator of its own, which keeps what is freed.
    private static let hasSanitizer = dlsym(nil, "__asan_init") != nil

    @Test(
        "memory that was freed between pieces that stay in use is given back to the system", .disabled(if: hasSanitizer)
    )
    func trimmed() throws {
        let size = 1024
        var pieces = (0..<65_536).map { _ in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8) }
        for piece in pieces { piece.initializeMemory(as: UInt8.self, repeating: 1, count: size) }
        var kept: [UnsafeMutableRawPointer] = []
        // One in sixty-four stays, so that no end of the heap is free.
        for (index, piece) in pieces.enumerated() {
            if index.isMultiple(of: 64) { kept.append(piece) } else { piece.deallocate() }
        }
        pieces = []
        let before = try resident()
        Heap.trim()
        let after = try resident()
        for piece in kept { piece.deallocate() }
        // Other tests of the process take memory meanwhile, but not as much as is given back: some 60 MB.
        #expect(after < before - (24 << 20), "before: \(before), after: \(after)")
    }

    /// Resident memory of this process, in bytes (proc(5)).
    private func resident() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
#endif
