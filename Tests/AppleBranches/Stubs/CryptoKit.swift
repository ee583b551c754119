// swift-format-ignore-file
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct SHA256Digest: Sequence {
    public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
}
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct SHA256 {
    public init() {}
    public mutating func update(data: some RandomAccessCollection<UInt8>) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}
