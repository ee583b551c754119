// swift-format-ignore-file
// What the client has on Apple's systems alone: its own branches need the real Foundation.
extension AppCheckOptions { public init() { fatalError() } }
extension AppAttestProvider { public init() { fatalError() } }
public struct KeychainStorage: ClientStorage {
    public init(service: String = "", accessGroup: String? = nil) {}
    public func load(_ key: StorageKey) throws -> [UInt8]? { nil }
    public func save(_ value: [UInt8], as key: StorageKey) throws {}
    public func remove(_ key: StorageKey) throws {}
}
extension DeviceCheckProvider { public init() { fatalError() } }
