// swift-format-ignore-file
public struct SHA256Digest: Sequence {
    public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
}
public struct SHA256 {
    public init() {}
    public mutating func update(data: some RandomAccessCollection<UInt8>) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}
