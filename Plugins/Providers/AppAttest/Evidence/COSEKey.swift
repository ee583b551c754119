internal import AssayCBOR

/// The credential's key: a COSE_Key of type EC2, for ES256, on P-256 (RFC 9053, sections 2.1 and 7.1), and nothing else.
enum COSEKey {
    /// Reads a key at the start of the bytes: its point in the form `04 ‖ X ‖ Y`, and how many bytes were read.
    static func read(_ bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) -> (point: [UInt8], count: Int) {
        let (key, count) = try EvidenceCBOR.first(in: bytes)
        // Type, algorithm and curve by their numbers in the registries of COSE; then the coordinates.
        guard key.map?.count == 5, key[1] == .integer(2), key[3] == .integer(-7), key[-1] == .integer(1),
            let x = key[-2]?.bytes, x.count == 32, let y = key[-3]?.bytes, y.count == 32
        else { throw AppAttestRefusal(AppAttestReasons.coseKeyMalformed) }
        return ([0x04] + x + y, count)
    }
}
