#if canImport(Security)
internal import Foundation
internal import Security

/// Keeps values in the Keychain, on this device alone: they are in no backup and move to no other device.
///
/// So a restored device has no name of a key that it does not have, and makes a new one. Values can be read after the
/// first unlock, since tokens are refreshed in the background.
public struct KeychainStorage: ClientStorage {
    /// Why an item could not be used.
    public struct Failure: Error, CustomStringConvertible {
        /// The status of Security's function.
        public let status: Int32
        /// The status in words.
        public var description: String { "Keychain status \(status)" }
    }

    private let service: String
    private let accessGroup: String?

    /// Makes a storage.
    ///
    /// - Parameters:
    ///   - service: what the items are listed under.
    ///   - accessGroup: the Keychain access group of an app and its extensions, which then share tokens, such as
    ///     `ABCDE12345.com.example.shared`; nil for the app's own. An App Attest key is the app's or the extension's own:
    ///     do not share the storage of a provider that has one.
    public init(service: String = "assay-client", accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// The value of a key.
    public func load(_ key: StorageKey) throws -> [UInt8]? {
        var query = item(key)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
        return Array(data)
    }

    /// Keeps a value.
    public func save(_ value: [UInt8], as key: StorageKey) throws {
        let attributes: [String: Any] = [
            kSecValueData as String: Data(value),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let changed = SecItemUpdate(item(key) as CFDictionary, attributes as CFDictionary)
        if changed == errSecSuccess { return }
        guard changed == errSecItemNotFound else { throw Failure(status: changed) }
        let added = SecItemAdd(item(key).merging(attributes) { $1 } as CFDictionary, nil)
        guard added == errSecSuccess else { throw Failure(status: added) }
    }

    /// Removes a value.
    public func remove(_ key: StorageKey) throws {
        let status = SecItemDelete(item(key) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
    }

    private func item(_ key: StorageKey) -> [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key.text,
            kSecAttrSynchronizable as String: false,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }
}
#endif
