/// The three parts of a token as they came, still encoded.
struct JWSParts {
    let header: ArraySlice<UInt8>
    let payload: ArraySlice<UInt8>
    let signature: ArraySlice<UInt8>
    /// The header and the payload with the dot between them.
    let signingInput: ArraySlice<UInt8>

    /// Splits a token at its two dots.
    init(_ token: ArraySlice<UInt8>) throws(JWSError) {
        guard token.count <= CompactJWS.maximumByteCount else { throw .malformed(.tooLarge) }
        let dot = UInt8(ascii: ".")
        guard let first = token.firstIndex(of: dot),
            let second = token[(first + 1)...].firstIndex(of: dot),
            !token[(second + 1)...].contains(dot)
        else { throw .malformed(.parts) }
        header = token[..<first]
        payload = token[(first + 1)..<second]
        signature = token[(second + 1)...]
        signingInput = token[..<second]
    }
}
