internal import AssayCore
internal import AssayCBOR
public import AssayCrypto

/// The certificates of a key, read but not verified: the key's own first, and maybe the root last.
public struct AndroidChain: Sendable {
    /// How the certificate of the device's attestation key came to the device.
    public enum Provisioning: String, Sendable, Hashable, CaseIterable {
        /// In the factory, the same one for many devices, and for the device's whole life.
        case factory
        /// From Google's servers, for this device alone, and for some weeks.
        case remote
    }

    /// The fewest and the most certificates that are read.
    public static let lengths = 2...10
    /// The most bytes of all certificates together.
    public static let byteLimit = 64 * 1024

    /// The certificate of the key.
    public let leaf: Certificate
    /// The certificates below the root, the key's own first.
    public let path: [Certificate]
    /// The last certificate, where it is a root: one that names itself as its issuer.
    public let root: Certificate?
    /// What the device says of the key.
    public let description: KeyDescription
    /// How the device's own certificate came to be there, as the names of the certificates say.
    public let provisioning: Provisioning
    /// Whether the certificates say that the attestation key is in a chip of its own.
    public let isStrongBox: Bool
    /// How many certificates the device got lately, as the server says that gave it this one; nil where it does not say.
    public let issuedCertificates: Int?

    /// Where the number of certificates is that were given to a device lately.
    private static let provisioningInfo = OID(1, 3, 6, 1, 4, 1, 11129, 2, 1, 30)

    /// Reads certificates in DER.
    ///
    /// - Throws: ``AndroidKeyRefusal`` for what cannot be a chain of a device.
    public init(der list: [[UInt8]]) throws(AndroidKeyRefusal) {
        try self.init(der: list, knowing: nil)
    }

    /// The same with certificates that were read and verified before.
    init(der list: [[UInt8]], knowing cache: VerifiedIntermediateCache?) throws(AndroidKeyRefusal) {
        guard Self.lengths.contains(list.count), list.reduce(0, { $0 + $1.count }) <= Self.byteLimit else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.chainSize,
                "\(list.count) certificates with \(list.reduce(0) { $0 + $1.count }) bytes")
        }
        var chain: [Certificate] = []
        for (position, der) in list.enumerated() {
            if position > 0, let known = cache?.certificate(der: der[...]) {
                chain.append(known)
                continue
            }
            do throws(CertificateError) {
                let kinds: Certificate.Algorithms = position == 0 ? [.all, .otherKeys] : .all
                chain.append(try Certificate(der: der[...], accepting: kinds, allowing: .ofDevices))
            } catch {
                throw AndroidKeyRefusal(AndroidKeyReasons.certificateMalformed, "certificate \(position): \(error)")
            }
        }
        if let last = chain.last, chain.count > 1, last.subject == last.issuer {
            root = last
            chain.removeLast()
        } else {
            root = nil
        }
        path = chain
        // A second root in the path would pass for the certificate that tells how the device got its own.
        if let position = chain.firstIndex(where: { $0.subject == $0.issuer }) {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.pathInvalid,
                "certificate \(position) names itself as its issuer, and is not the last one")
        }
        guard let leaf = chain.first, let value = leaf.value(of: KeyDescription.identifier) else {
            throw AndroidKeyRefusal(AndroidKeyReasons.descriptionMissing)
        }
        self.leaf = leaf
        // An attested key can sign: only what an authority's certificate says of a key counts.
        for (position, certificate) in (chain + [root].compactMap(\.self)).enumerated().dropFirst()
        where certificate.value(of: KeyDescription.identifier) != nil {
            throw AndroidKeyRefusal(AndroidKeyReasons.chainExtended, "certificate \(position) describes a key")
        }
        do throws(ASN1Error) {
            description = try KeyDescription(extensionValue: value)
        } catch {
            throw AndroidKeyRefusal(AndroidKeyReasons.descriptionMalformed, "\(error)")
        }
        let lowest = chain.count > 1 ? CertificateName(chain[1].subject) : nil
        let highest = chain.count > 2 ? chain.last.map { CertificateName($0.subject) } : lowest
        // Certificates from a factory have no word about how they came to the device, and name the authority by a number.
        let isRemote = highest?.serialNumber == nil || chain.contains { $0.value(of: Self.provisioningInfo) != nil }
        provisioning = isRemote ? .remote : .factory
        isStrongBox = [lowest, highest].contains { $0?.saysStrongBox == true }
        issuedCertificates = chain.dropFirst().first.flatMap(Self.issued)
    }

    /// A number from a map in CBOR; a malformed one says nothing.
    private static func issued(_ certificate: Certificate) -> Int? {
        guard let value = certificate.value(of: provisioningInfo) else { return nil }
        let decoder = CBORDecoder(limits: CBORLimits(bytes: 1024, depth: 4, items: 32))
        guard let pairs = try? decoder.decode(Array(value)).map else { return nil }
        return pairs.first { $0.key.unsigned == 1 }?.value.unsigned.flatMap { Int(exactly: $0) }
    }
}
