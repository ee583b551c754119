import AssayCore
import AssayTestSupport
import Foundation
import Testing

/// A file of Wycheproof vectors, with the members that the tests here read.
struct WycheproofVectors: Decodable {
    struct Group: Decodable {
        struct Key: Decodable {
            let curve: String?
            let uncompressed: String?
            let modulus: String?
            let publicExponent: String?
        }

        let keySize: Int?
        let ivSize: Int?
        let tagSize: Int?
        let sha: String?
        let publicKey: Key?
        let publicKeyPem: String?
        let tests: [Case]
    }

    struct Case: Decodable {
        let tcId: Int
        let comment: String
        let result: String
        let msg: String
        let sig: String?
        let key: String?
        let iv: String?
        let aad: String?
        let ct: String?
        let tag: String?

        var name: Comment { "case \(tcId): \(comment)" }
    }

    let numberOfTests: Int
    let testGroups: [Group]

    static let folder = "vectors/wycheproof"
    static let absence = Comment(rawValue: SharedFiles.absence)

    static func load(_ name: String) throws -> WycheproofVectors {
        try JSONDecoder().decode(WycheproofVectors.self, from: Data(SharedFiles.bytes("\(folder)/\(name)")))
    }
}

/// The bytes of a member in hexadecimal digits.
func fromHex(_ digits: String?) throws -> [UInt8] {
    try #require(digits.flatMap { Hex.decode($0) })
}
