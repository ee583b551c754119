/// Unpredictable bytes.
public struct Randomness: Sendable {
    private let filling: @Sendable (Int) -> [UInt8]

    public init(_ bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.filling = bytes
    }

    /// That many bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        filling(count)
    }

    /// The system's cryptographic generator (`getrandom` on Linux).
    public static let system = Randomness { count in
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }
}
