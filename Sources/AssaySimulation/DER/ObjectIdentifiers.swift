/// The object identifiers of Apple's certificates and receipts, as arcs.
package enum ObjectIdentifiers {
    // Names (X.520).
    package static let commonName: [UInt64] = [2, 5, 4, 3]
    package static let country: [UInt64] = [2, 5, 4, 6]
    package static let state: [UInt64] = [2, 5, 4, 8]
    package static let organization: [UInt64] = [2, 5, 4, 10]
    package static let organizationalUnit: [UInt64] = [2, 5, 4, 11]

    // Certificate extensions (RFC 5280).
    package static let subjectKeyIdentifier: [UInt64] = [2, 5, 29, 14]
    package static let keyUsage: [UInt64] = [2, 5, 29, 15]
    package static let basicConstraints: [UInt64] = [2, 5, 29, 19]
    package static let authorityKeyIdentifier: [UInt64] = [2, 5, 29, 35]
    package static let extendedKeyUsage: [UInt64] = [2, 5, 29, 37]

    // Keys and signatures (RFC 5480, RFC 5758).
    package static let ecPublicKey: [UInt64] = [1, 2, 840, 10045, 2, 1]
    package static let rsaEncryption: [UInt64] = [1, 2, 840, 113549, 1, 1, 1]
    package static let rsaWithSHA256: [UInt64] = [1, 2, 840, 113549, 1, 1, 11]
    package static let p256: [UInt64] = [1, 2, 840, 10045, 3, 1, 7]
    package static let p384: [UInt64] = [1, 3, 132, 0, 34]
    package static let ecdsaWithSHA256: [UInt64] = [1, 2, 840, 10045, 4, 3, 2]
    package static let ecdsaWithSHA384: [UInt64] = [1, 2, 840, 10045, 4, 3, 3]
    package static let ecdsaWithSHA512: [UInt64] = [1, 2, 840, 10045, 4, 3, 4]
    package static let sha256: [UInt64] = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    package static let sha384: [UInt64] = [2, 16, 840, 1, 101, 3, 4, 2, 2]
    package static let sha512: [UInt64] = [2, 16, 840, 1, 101, 3, 4, 2, 3]

    // Cryptographic message syntax (RFC 5652).
    package static let data: [UInt64] = [1, 2, 840, 113549, 1, 7, 1]
    package static let signedData: [UInt64] = [1, 2, 840, 113549, 1, 7, 2]
    package static let contentType: [UInt64] = [1, 2, 840, 113549, 1, 9, 3]
    package static let messageDigest: [UInt64] = [1, 2, 840, 113549, 1, 9, 4]
    package static let signingTime: [UInt64] = [1, 2, 840, 113549, 1, 9, 5]

    // Apple's own.
    package static let appAttestPurpose: [UInt64] = [1, 2, 840, 113635, 100, 4, 24]
    package static let integrationCA: [UInt64] = [1, 2, 840, 113635, 100, 6, 2, 3]
    package static let appAttestNonce: [UInt64] = [1, 2, 840, 113635, 100, 8, 2]
    package static let appAttestKeyProperties: [UInt64] = [1, 2, 840, 113635, 100, 8, 5]
    package static let appAttestKeyPolicy: [UInt64] = [1, 2, 840, 113635, 100, 8, 6]
    package static let appAttestSystem: [UInt64] = [1, 2, 840, 113635, 100, 8, 7]
    package static let receiptSigner: [UInt64] = [1, 2, 840, 113635, 100, 12, 15]
}
