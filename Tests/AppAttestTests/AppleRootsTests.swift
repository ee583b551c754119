import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayTestSupport
import Foundation
import Testing

struct AppleRootsTests {
    @Test func fingerprintsAreThoseThatArePublished() throws {
        #expect(
            Hex.encode(try AppleRoots.appAttestAnchor().fingerprint)
                == "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932")
        #expect(
            Hex.encode(try AppleRoots.receiptAnchor().fingerprint)
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    }

    /// Needs the published files beside the checkout.
    @Test(.enabled(if: SharedFiles.has("trust-anchors"), Comment(rawValue: SharedFiles.absence)))
    func bytesAreThoseOfTheFiles() throws {
        let files = try ["apple_app_attest_root_ca", "apple_root_ca_g3"].map { name in
            let text = String(decoding: SharedFiles.bytes("trust-anchors/\(name).pem"), as: UTF8.self)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-") }
            return try TrustAnchor(der: try #require(Base64.decode(lines.joined())))
        }
        #expect(files[0].encoded == (try AppleRoots.appAttestAnchor().encoded))
        #expect(files[1].encoded == (try AppleRoots.receiptAnchor().encoded))
    }
}
