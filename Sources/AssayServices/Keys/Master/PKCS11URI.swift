internal import AssayCore
internal import AssayKit

/// The name of a key in a token: a URI of RFC 7512.
///
/// The attributes of the path choose the token and the key; those of the query say which module to load, and where the
/// PIN is. The PIN itself is no part of it (`pin-value`): it would be seen in the list of processes.
struct PKCS11URI: Sendable, Equatable, CustomStringConvertible {
    static let scheme = "pkcs11:"

    @Exact private(set) var token: String? = nil
    @Exact private(set) var serial: String? = nil
    @Exact private(set) var manufacturer: String? = nil
    @Exact private(set) var model: String? = nil
    /// The key's label.
    @Exact private(set) var object: String? = nil
    /// The key's identifier.
    private(set) var id: [UInt8]?
    /// The path of the module.
    @Exact private(set) var module = ""
    /// Where the PIN is; nil for a token that asks for it by itself, or needs none.
    private(set) var pin: SecretReference?

    init(_ text: String) throws(KeyVaultError) {
        guard let rest = text.dropping(prefix: Self.scheme), rest.utf8.count <= 4096 else {
            throw KeyVaultError("a key in a token is named as pkcs11:token=…;object=…?module-path=…")
        }
        let parts = rest.split(onASCII: "?", maxSplits: 1)
        var seen: [ExactText] = []
        for (index, part) in parts.enumerated() {
            for attribute in part.split(onASCII: index == 0 ? ";" : "&") where !attribute.isEmpty {
                let pair = attribute.split(onASCII: "=", maxSplits: 1)
                let name = pair.first.map { String($0) } ?? ""
                guard pair.count == 2, let value = Self.decode(pair[1]) else {
                    throw KeyVaultError("pkcs11: '\(SafeText.of(name, limit: 40))' has no value, or a broken escape")
                }
                guard !seen.contains(ExactText(name)) else {
                    throw KeyVaultError("pkcs11: '\(SafeText.of(name, limit: 40))' is given twice")
                }
                seen.append(ExactText(name))
                try take(name, value, isQuery: index == 1)
            }
        }
        guard !module.isEmpty else {
            throw KeyVaultError("pkcs11: expected ?module-path=PATH of the token's module, such as a lib….so")
        }
        guard !object.isNil || id != nil else {
            throw KeyVaultError("pkcs11: expected object=LABEL or id=… of the key")
        }
    }

    private mutating func take(_ name: String, _ value: [UInt8], isQuery: Bool) throws(KeyVaultError) {
        func text() throws(KeyVaultError) -> String {
            guard let text = String(validating: value, as: UTF8.self), !value.contains(0) else {
                throw KeyVaultError("pkcs11: the value of '\(name)' is no text")
            }
            return text
        }
        if name.isExactly("pin-value") {
            throw KeyVaultError("pkcs11: give the PIN as pin-source=file:PATH or env:NAME, not as pin-value")
        }
        switch (isQuery, ExactText(name)) {
        case (false, "token"): token = try text()
        case (false, "serial"): serial = try text()
        case (false, "manufacturer"): manufacturer = try text()
        case (false, "model"): model = try text()
        case (false, "object"): object = try text()
        case (false, "id"): id = value
        case (false, "type"):
            guard try text().isExactly("secret-key") else {
                throw KeyVaultError("pkcs11: a master key has type=secret-key")
            }
        case (true, "module-path"):
            module = try text()
            guard module.starts(withExactly: "/") else {
                throw KeyVaultError("pkcs11: module-path is an absolute path")
            }
        case (true, "pin-source"):
            let place = try text()
            guard let reference = SecretReference(place.starts(withExactly: "/") ? "file:\(place)" : place) else {
                throw KeyVaultError("pkcs11: pin-source is file:PATH or env:NAME")
            }
            pin = reference
        default: throw KeyVaultError("pkcs11: '\(SafeText.of(name, limit: 40))' is not supported here")
        }
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard
            PercentCoding.decode(
                text.utf8,
                { byte, _ in
                    bytes.append(byte)
                    return true
                })
        else { return nil }
        return bytes
    }

    /// The attributes that choose the key, for errors.
    var description: String {
        let texts = [
            ("token", token), ("serial", serial), ("manufacturer", manufacturer), ("model", model), ("object", object),
            ("id", id.map { Hex.encode($0) }),
        ]
        return Self.scheme + texts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ";")
    }
}
