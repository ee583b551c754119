import Synchronization

/// Carries bytes out of a stage in the making of evidence.
final class ByteBox: Sendable {
    private let content = Mutex<[UInt8]>([])

    var bytes: [UInt8] {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
