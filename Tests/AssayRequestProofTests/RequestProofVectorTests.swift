import AssayCore
import Foundation
import Testing

@testable import AssayRequestProof

/// Proofs that another program made (`Tests/Clients/proofs.py`), which writers of clients and backends can compare with.
@Suite("Vectors of request proofs")
struct RequestProofVectorTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Vectors/request-proofs.json")

    @Test("Each base is the one that is built here, and each proof is good at its time, and at no other")
    func vectors() throws {
        let document = try JSON.parse(Array(Data(contentsOf: Self.file)))
        let key = try #require(document["cnf"].flatMap { ConfirmationKey(claim: $0) })
        let vectors = try #require(document["proofs"]?.array)
        #expect(vectors.count >= 4)
        for vector in vectors {
            let created = try #require(vector["created"]?.integer)
            let authority = try #require(vector["authority"]?.string)
            let request = try #require(
                ProvenRequest(
                    method: vector["method"]?.string ?? "", target: vector["target"]?.string ?? ""))
            let fields = vector["headers"]
            let headers = RequestProofHeaders(
                contentDigest: fields?["Content-Digest"]?.string, signatureInput: fields?["Signature-Input"]?.string,
                signature: fields?["Signature"]?.string)
            let base = request.signatureBase(
                authority: authority, contentDigest: headers.contentDigest ?? "", created: created)
            #expect(base == vector["signature_base"]?.string)
            let verifier = try #require(RequestProofVerifier(authorities: [authority]))
            let now = Instant(seconds: created)
            guard case .verified(let proof) = verifier.verify(headers, of: request, by: key, now: now) else {
                Issue.record("\(vector)")
                continue
            }
            #expect(vector["counter"]?.integer == Int64(proof.counter))
            for time in [Duration.seconds(61), .seconds(-6)] {
                guard case .refused = verifier.verify(headers, of: request, by: key, now: now + time) else {
                    Issue.record("\(vector) at \(time)")
                    continue
                }
            }
        }
    }
}
