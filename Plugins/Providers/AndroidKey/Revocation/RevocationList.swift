public import AssayCore
public import AssayCrypto

/// A list of revoked certificates as Google publishes it: `{"entries": {"SERIAL": {"status": "REVOKED", …}}}`.
///
/// Lists call a certificate by its serial number in hexadecimal without zeros at the beginning, but had decimal, upper-case, padded and
/// negative numbers, and serial numbers of subjects. A text of digits can be meant in both ways: a certificate is looked up under
/// every name that it may have, and no name of the list is read as a number.
public struct RevocationList: Sendable, Equatable {
    /// The most bytes that are read.
    public static let byteLimit = 4 << 20
    /// The most entries that are read.
    public static let entryLimit = 100_000

    private static let limits = JSON.Limits(
        bytes: byteLimit, depth: 8, values: 16 * entryLimit, allowsRepeatedNames: true)

    /// Why a list cannot be used.
    public struct Malformed: Error, Sendable, CustomStringConvertible {
        /// What is wrong, for an operator.
        @Exact public private(set) var description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Whatever is listed is not to be trusted; the status says why.
    enum Status: UInt8, Sendable {
        case other = 0
        case revoked = 1
        case suspended = 2

        var word: String {
            switch self {
            case .other: "listed"
            case .revoked: "REVOKED"
            case .suspended: "SUSPENDED"
            }
        }
    }

    private let entries: [UInt64: Status]

    /// How many certificates are listed.
    public var count: Int { entries.count }

    /// Reads a list.
    public init(json bytes: [UInt8]) throws(Malformed) {
        guard bytes.count <= Self.byteLimit else { throw Malformed("the list has more than \(Self.byteLimit) bytes") }
        let json: JSON
        do {
            json = try JSON.parse(bytes, limits: Self.limits)
        } catch {
            throw Malformed("the list is not JSON: \(error)")
        }
        let lists = (json.members ?? []).filter { $0.name.isExactly("entries") }
        guard let members = lists.first?.value.members, lists.count == 1 else {
            throw Malformed("the list is not an object with one member `entries`")
        }
        guard members.count <= Self.entryLimit else {
            throw Malformed("the list has more than \(Self.entryLimit) entries")
        }
        var entries: [UInt64: Status] = [:]
        for member in members {
            let status: Status =
                switch member.value["status"]?.string {
                case let word? where word.isExactly("REVOKED"): .revoked
                case let word? where word.isExactly("SUSPENDED"): .suspended
                default: .other
                }
            entries[Self.hash(Self.canonical(Array(member.name.utf8)))] = status
        }
        self.entries = entries
    }

    /// Why one of some names is not to be trusted; nil when none is listed.
    func status(of names: [UInt64]) -> Status? {
        for name in names { if let status = entries[name] { return status } }
        return nil
    }

    /// Whether a certificate is listed.
    public func lists(_ certificate: Certificate) -> Bool { status(of: Self.names(of: certificate)) != nil }

    // MARK: - Names

    /// What a certificate may be called, hashed.
    static func names(of certificate: Certificate) -> [UInt64] {
        let digits = Array(certificate.serialNumber.drop { $0 == 0 })
        var texts = [Hex.encode(digits), decimal(digits)]
        if let first = digits.first, first & 0x80 != 0 {
            // The same bytes, read as a signed number.
            let negative = negated(digits)
            texts += ["-" + Hex.encode(negative), "-" + decimal(negative)]
        }
        if let subject = CertificateName(certificate.subject).serialNumber {
            texts.append(String(decoding: subject, as: UTF8.self))
        }
        var hashes: [UInt64] = []
        for text in texts {
            let hash = hash(canonical(Array(text.utf8)))
            if !hashes.contains(hash) { hashes.append(hash) }
        }
        return hashes
    }

    /// A name in lower case, without zeros at the beginning of its number.
    private static func canonical(_ name: [UInt8]) -> [UInt8] {
        let isNegative = name.first == UInt8(ascii: "-")
        let digits = name.dropFirst(isNegative ? 1 : 0).drop { $0 == UInt8(ascii: "0") }.map {
            (65...90).contains($0) ? $0 + 32 : $0
        }
        return (isNegative ? [UInt8(ascii: "-")] : []) + digits
    }

    /// Eight bytes of a digest: an accident between two of a hundred thousand names is less likely than one in a billion.
    private static func hash(_ name: [UInt8]) -> UInt64 {
        SHA256.hash(name).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func decimal(_ number: [UInt8]) -> String {
        var digits: [UInt8] = []
        var rest = number
        while !rest.isEmpty {
            var remainder = 0
            for index in rest.indices {
                remainder = remainder << 8 | Int(rest[index])
                rest[index] = UInt8(remainder / 10)
                remainder %= 10
            }
            digits.append(UInt8(ascii: "0") + UInt8(remainder))
            rest = Array(rest.drop { $0 == 0 })
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// The magnitude of a two's complement number whose first bit is set.
    private static func negated(_ digits: [UInt8]) -> [UInt8] {
        var result = digits.map { ~$0 }
        for index in result.indices.reversed() {
            let (sum, overflow) = result[index].addingReportingOverflow(1)
            result[index] = sum
            guard overflow else { break }
        }
        return Array(result.drop { $0 == 0 })
    }

    // MARK: - The form in the state store

    /// Nine bytes for each entry.
    var encoded: [UInt8] {
        entries.sorted { $0.key < $1.key }.flatMap { name, status in
            withUnsafeBytes(of: name.bigEndian) { Array($0) } + [status.rawValue]
        }
    }

    init?(encoded bytes: [UInt8]) {
        guard bytes.count % 9 == 0 else { return nil }
        var entries: [UInt64: Status] = [:]
        for start in stride(from: 0, to: bytes.count, by: 9) {
            let name = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            entries[name] = Status(rawValue: bytes[start + 8]) ?? .other
        }
        self.entries = entries
    }
}
