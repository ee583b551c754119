// swift-format-ignore-file
// No digest, and yet another one for other data.
public struct SHA256Digest: Sequence {
    let bytes: [UInt8]
    public func makeIterator() -> AnyIterator<UInt8> { AnyIterator(bytes.makeIterator()) }
}
public struct SHA256 {
    private var bytes = [UInt8](repeating: 0, count: 32)
    private var count = 0
    public init() {}
    public mutating func update(data: some RandomAccessCollection<UInt8>) {
        for byte in data {
            bytes[count % 32] = bytes[count % 32] &* 31 &+ byte
            count += 1
        }
    }
    public func finalize() -> SHA256Digest { SHA256Digest(bytes: bytes) }
}
