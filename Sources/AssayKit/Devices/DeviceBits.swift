public import AssayCore

/// The bits that the maker of a platform keeps of each device for a developer, whatever is installed anew: Apple keeps two, Google three.
public struct DeviceBits: Sendable, Hashable {
    /// Bit 0.
    public var bit0: Bool
    /// Bit 1.
    public var bit1: Bool
    /// Bit 2; nil where the maker keeps two.
    public var bit2: Bool?
    /// The month of the last change that the maker tells, `YYYY-MM`; nil when there is none.
    @Exact public var lastUpdate: String?

    /// Makes bits.
    ///
    /// - Parameters:
    ///   - bit2: nil where the maker keeps two.
    ///   - lastUpdate: the month of the last change, `YYYY-MM`; nil when they were never set.
    public init(bit0: Bool, bit1: Bool, bit2: Bool? = nil, lastUpdate: String? = nil) {
        self.bit0 = bit0
        self.bit1 = bit1
        self.bit2 = bit2
        self.lastUpdate = lastUpdate
    }

    /// All of them.
    public var all: SomeDeviceBits { SomeDeviceBits([bit0, bit1, bit2]) }

    /// The bits of a device whose two bits were never set.
    public static let unset = DeviceBits(bit0: false, bit1: false)
}

/// Some of the bits of a device: what a caller sets, or what a policy refuses.
public struct SomeDeviceBits: Sendable, Hashable, CustomStringConvertible {
    /// The values by the numbers of the bits; nil for bits that are left as they are, or may have any value.
    public let values: [Bool?]

    /// Names the values of bits 0, 1 and 2.
    public init(_ values: [Bool?]) {
        self.values = values
    }

    /// Whether it names no bit.
    public var isEmpty: Bool { values.allSatisfy { $0 == nil } }

    /// Whether a device has all the values that it names.
    public func matches(_ bits: DeviceBits) -> Bool {
        zip(values, bits.all.values).allSatisfy { $0 == nil || $0 == $1 }
    }

    /// As in `bit0: true, bit1: false`.
    public var description: String {
        values.enumerated().compactMap { number, value in value.map { "bit\(number): \($0)" } }.joined(separator: ", ")
    }

    /// The values that it names, for the record.
    ///
    /// - Parameter names: of bits 0, 1 and 2.
    public func facts(_ names: [FactName]) -> [Fact] {
        zip(names, values).compactMap { name, value in value.map { Fact(name, .bool($0)) } }
    }
}

/// A provider of a platform whose maker keeps bits of devices: callers with a permission read and set them, in one form for all platforms.
///
/// Its methods are among the provider's if it lists ``bitMethods``; for the name `DeviceCheck` these are `readDeviceCheckBits` and
/// `updateDeviceCheckBits`, for callers with `deviceCheck.readBits` and `deviceCheck.updateBits`.
public protocol DeviceBitsProvider: AttestationProvider {
    /// What methods and permissions are named by, in upper camel case: `DeviceCheck`.
    static var bitsName: String { get }
    /// How many bits the maker keeps: 2 or 3.
    static var bitCount: Int { get }

    /// The bits of a token's device, and what is put on record; nil when the maker does not tell them.
    ///
    /// - Throws: `InvalidRequest` when it is not a token; `CallFailure` when it is refused, or nothing could be decided.
    func readBits(of deviceToken: String, _ context: ProviderContext) async throws -> (bits: DeviceBits?, facts: [Fact])

    /// Sets those bits of a token's device that the change names, and returns what is put on record.
    ///
    /// - Throws: as ``readBits(of:_:)``.
    func updateBits(of deviceToken: String, to change: SomeDeviceBits, _ context: ProviderContext) async throws
        -> [Fact]
}

extension DeviceBitsProvider {
    /// To read the bits of devices.
    public static var readBits: Permission { permission("readBits") }
    /// To set the bits of devices.
    public static var updateBits: Permission { permission("updateBits") }

    private static func permission(_ verb: String) -> Permission {
        Permission("\(String(bitsName.prefix(1)).lowercasedASCII)\(bitsName.dropFirst()).\(verb)")
    }

    fileprivate static var bitFields: [MessageField] { (0..<bitCount).map { .optional("bit\($0)", .boolean) } }

    /// The two methods: to read the bits of a device, and to set some of them.
    public static var bitMethods: [ProviderMethod<Self>] {
        [
            .call(
                "read\(bitsName)Bits", MethodPath(.post, ":read\(bitsName)Bits"), permission: readBits,
                reply: MessageShape(bitFields + [.optional("lastUpdate", .text)])
            ) { (provider, request: ReadDeviceBitsRequest, context) -> CallAnswer in
                let (bits, facts) = try await provider.readBits(of: request.deviceToken, context)
                guard let bits else { return CallAnswer([:], facts: facts) }
                var members = [JSONMember("bit0", .bool(bits.bit0)), JSONMember("bit1", .bool(bits.bit1))]
                if let bit2 = bits.bit2 { members.append(JSONMember("bit2", .bool(bit2))) }
                if let month = bits.lastUpdate { members.append(JSONMember("lastUpdate", .string(month))) }
                return CallAnswer(.object(members), facts: facts)
            },
            .call(
                "update\(bitsName)Bits", MethodPath(.post, ":update\(bitsName)Bits"), permission: updateBits, reply: []
            ) { (provider, request: UpdateDeviceBitsRequest<Self>, context) -> CallAnswer in
                CallAnswer(
                    [:], facts: try await provider.updateBits(of: request.deviceToken, to: request.bits, context))
            },
        ]
    }
}

/// What a server sends to read the bits of a device.
private struct ReadDeviceBitsRequest: RequestMessage {
    static let shape: MessageShape? = [.required("deviceToken", .text)]

    let deviceToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        deviceToken = try fields.string("deviceToken")
    }
}

/// What a server sends to set bits of a device; a bit that is absent stays.
private struct UpdateDeviceBitsRequest<Provider: DeviceBitsProvider>: RequestMessage {
    static var shape: MessageShape? { MessageShape([.required("deviceToken", .text)] + Provider.bitFields) }

    let deviceToken: String
    let bits: SomeDeviceBits

    init(_ fields: RequestFields) throws(InvalidRequest) {
        deviceToken = try fields.string("deviceToken")
        var values: [Bool?] = []
        for number in 0..<Provider.bitCount {
            values.append(try fields.has("bit\(number)") ? try fields.bool("bit\(number)") : nil)
        }
        bits = SomeDeviceBits(values)
        guard !bits.isEmpty else {
            let names = (0..<Provider.bitCount).map { "'bit\($0)'" }
            throw InvalidRequest(
                "one of \(names.dropLast().joined(separator: ", ")) and \(names.suffix(1).joined()) is required")
        }
    }
}
