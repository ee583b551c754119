import AssayCore
internal import AssayCrypto

/// The attributes of a distinguished name that tell Android's certificates apart (RFC 5280, section 4.1.2.4).
struct CertificateName: Equatable {
    private(set) var commonName: ArraySlice<UInt8>?
    private(set) var organization: ArraySlice<UInt8>?
    private(set) var serialNumber: ArraySlice<UInt8>?
    private(set) var title: ArraySlice<UInt8>?

    /// Reads the first value of each attribute; a malformed name has none.
    init(_ encoded: ArraySlice<UInt8>) {
        guard var names = try? DERReader.single(.sequence, in: encoded).reader else { return }
        while !names.isAtEnd {
            guard var attributes = try? names.next(.set).reader else { return }
            while !attributes.isAtEnd {
                guard var attribute = try? attributes.next(.sequence).reader,
                    let type = try? attribute.objectIdentifier(), let value = try? attribute.next()
                else { return }
                set(type, value.content)
            }
        }
    }

    private mutating func set(_ type: OID, _ value: ArraySlice<UInt8>) {
        switch type {
        case Self.commonNameType: commonName = commonName ?? value
        case Self.organizationType: organization = organization ?? value
        case Self.serialNumberType: serialNumber = serialNumber ?? value
        case Self.titleType: title = title ?? value
        default: break
        }
    }

    private static let commonNameType = OID(2, 5, 4, 3)
    private static let serialNumberType = OID(2, 5, 4, 5)
    private static let organizationType = OID(2, 5, 4, 10)
    private static let titleType = OID(2, 5, 4, 12)

    /// Whether any of its attributes says that the key of the certificate is in a chip of its own.
    var saysStrongBox: Bool {
        [commonName, organization, title].contains { $0?.elementsEqual("StrongBox".utf8) == true }
    }
}
