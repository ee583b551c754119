import AssayCBOR
import AssayCore
internal import AssayKit
import AssayTesting
import Fuzz

/// Receipts of both kinds and encodings, and their fields.
enum ReceiptSeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        let attestation = ReceiptField.attestation(
            app: FuzzScene.app, certificate: try leaf(scene), clientDataHash: FuzzScene.clientDataHash,
            token: [UInt8](repeating: 7, count: 64), at: FuzzScene.now - .seconds(86_400))
        let exchange = ReceiptField.refreshed(attestation, riskMetric: "3", at: FuzzScene.now)
        func receipt(
            _ name: String, _ fields: [ReceiptField], _ change: (inout ReceiptTemplate) -> Void
        ) throws -> Seed {
            var template = scene.receipt(fields)
            change(&template)
            return Seed(.receipt, name, try template.signed())
        }
        func fields(_ name: String, _ fields: [ReceiptField], _ change: (inout [ReceiptField]) -> Void) -> Seed {
            var fields = fields
            change(&fields)
            return Seed(.receiptFields, name, set(fields))
        }
        return [
            try receipt("good-attestation", attestation) { _ in },
            try receipt("good-exchange", exchange) { _ in },
            try receipt("good-definite", exchange) { $0.encoding = .definite },
            try receipt("bad-receipt_malformed-small-chunks", exchange) { $0.chunkSize = 250 },
            try receipt("good-signed-attributes", exchange) {
                $0.signatures = [ReceiptSignature(scene.authority.receiptSigner, coverage: .signedAttributes)]
            },
            try receipt("bad-receipt_signature_invalid", exchange) { $0.signatures[0].key = scene.key },
            try receipt("bad-receipt_signer_count", exchange) { $0.signatures.append($0.signatures[0]) },
            try receipt("bad-receipt_signer_unknown", exchange) { $0.signatures[0].serialNumber = [1] },
            try receipt("bad-receipt_malformed", exchange) { $0.content = [0x30, 0x00] },
            fields("good-attestation", attestation) { _ in },
            fields("good-exchange", exchange) { _ in },
            fields("good-unknown-field", exchange) { $0.append(ReceiptField(type: 99, value: [1])) },
            fields("bad-receipt_field_missing", exchange) { $0.removeLast() },
            fields("bad-receipt_field_duplicated", exchange) { $0.append($0[0]) },
            fields("bad-receipt_type_unexpected", exchange) { $0[1].value = Array("OTHER".utf8) },
            fields("bad-receipt_risk_metric_malformed", exchange) { $0[0].value = Array("-3".utf8) },
            fields("bad-receipt_key_mismatch", exchange) { $0[3].value = [0x30, 0x00] },
            fields("bad-receipt_from_future", exchange) { fields in
                fields = ReceiptField.refreshed(attestation, riskMetric: "3", at: FuzzScene.now + .seconds(3600))
            },
        ]
    }

    /// The certificate of the device's key.
    private static func leaf(_ scene: FuzzScene) throws -> [UInt8] {
        let device = scene.device(.iOS27)
        let attestation = try device.attestKey(
            device.generateKey(), clientDataHash: FuzzScene.clientDataHash, app: FuzzScene.app, at: FuzzScene.now)
        let certificates = try CBORDecoder().decode(attestation)["attStmt"]?["x5c"]?.array
        return certificates?.first?.bytes ?? []
    }

    /// SET OF, with a length of two bytes.
    private static func set(_ fields: [ReceiptField]) -> [UInt8] {
        let content = fields.flatMap(\.derBytes)
        return [0x31, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)]
            + content
    }
}
