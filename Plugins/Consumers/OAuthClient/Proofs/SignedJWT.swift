internal import AssayCrypto
internal import AssayJWT
internal import AssayKit

/// A JWT taken apart, with the whole header, since proofs bring their key in it. Nothing in it is trusted yet.
struct SignedJWT: Sendable {
    let signed: CompactJWS
    let claims: JWTClaims
    /// The header, with the members that other JWTs' readers pass over.
    let header: JSON

    /// What is wrong with one before anybody looks at what it says.
    enum Defect: Error {
        /// Not a JWT, or one with claims of the wrong types; in words for an operator.
        case malformed(String)
        /// An algorithm that is not used here, `none` and those with shared secrets among them.
        case algorithm
    }

    /// Takes a JWT of up to 16 KiB apart.
    init(_ text: String) throws(Defect) {
        let bytes = Array(text.utf8)
        do throws(JWSError) {
            signed = try CompactJWS.parse(utf8: bytes[...])
        } catch .unsupportedAlgorithm {
            throw .algorithm
        } catch {
            throw .malformed(error.description)
        }
        let limits = JSON.Limits(bytes: 4096, depth: 8, values: 256, allowsRepeatedNames: false)
        let first = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard let decoded = Base64.decodeURL(utf8: first), let header = try? JSON.parse(decoded, limits: limits) else {
            throw .malformed("the header is no JSON object")
        }
        self.header = header
        do throws(JWTFault) {
            claims = try JWTClaims(payload: signed.payload)
        } catch {
            throw .malformed("the claims are no JSON object, or have the wrong types")
        }
    }

    var algorithm: JWSAlgorithm { signed.header.algorithm }
    /// `typ` in lower case; nil when the header does not say.
    var type: String? { signed.header.type?.lowercasedASCII }
}
