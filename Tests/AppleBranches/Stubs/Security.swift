// swift-format-ignore-file
public import Foundation

public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let kSecReturnData: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitOne: CFString = ""
public let kSecValueData: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecClass: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrAccessGroup: CFString = ""
public let kSecAttrSynchronizable: CFString = ""
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public let kSecUseDataProtectionKeychain: CFString = ""
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
