// swift-format-ignore-file
// A Keychain in memory.
public import Foundation

public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let kSecReturnData: CFString = "r_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecValueData: CFString = "v_Data"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrSynchronizable: CFString = "sync"
public let kSecUseDataProtectionKeychain: CFString = "nleg"

private let lock = NSLock()
nonisolated(unsafe) private var items: [String: Data] = [:]
private func name(_ query: CFDictionary) -> String {
    [kSecAttrAccessGroup, kSecAttrService, kSecAttrAccount].map { "\(query[$0] ?? "")" }.joined(separator: "/")
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    lock.withLock {
        guard let data = items[name(query)] else { return errSecItemNotFound }
        result?.pointee = data as NSData
        return errSecSuccess
    }
}
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
    lock.withLock {
        guard items[name(query)] != nil else { return errSecItemNotFound }
        items[name(query)] = attributes[kSecValueData] as? Data
        return errSecSuccess
    }
}
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    lock.withLock {
        guard items[name(attributes)] == nil else { return -25299 }
        items[name(attributes)] = attributes[kSecValueData] as? Data
        return errSecSuccess
    }
}
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    lock.withLock { items.removeValue(forKey: name(query)) == nil ? errSecItemNotFound : errSecSuccess }
}
