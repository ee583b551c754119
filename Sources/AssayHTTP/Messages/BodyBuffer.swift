internal import NIOCore

/// The body of a request as it arrives. What it takes is held before it is taken, also the room that is not filled yet.
struct BodyBuffer {
    private(set) var bytes: [UInt8] = []
    /// Beside that of the array, which may be rounded up.
    private var capacity = 0

    var count: Int { bytes.count }

    /// - Parameters:
    ///   - most: how long the body can become: it is never given more room than this.
    ///   - hold: takes bytes into account, and says whether they fit.
    /// - Returns: whether there was room.
    mutating func append(_ piece: ByteBuffer, most: Int, hold: (Int) -> Bool) -> Bool {
        let count = bytes.count + piece.readableBytes
        if count > capacity {
            let wanted = max(count, min(2 * capacity, most))
            guard hold(wanted - capacity) else { return false }
            bytes.reserveCapacity(wanted)
            capacity = wanted
        }
        bytes.append(contentsOf: piece.readableBytesView)
        return true
    }
}
