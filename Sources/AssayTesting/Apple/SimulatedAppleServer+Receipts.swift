internal import AssayCore
internal import AssayCrypto
internal import Synchronization

extension SimulatedAppleServer {
    /// How long what a receipt is about can be asked for.
    private static let memory = Duration.days(30)

    /// Exchanges a receipt (Apple, Assessing Fraud Risk).
    func exchange(_ request: OutboundRequest, in environment: SimulatedEnvironment) -> OutboundResponse {
        guard let team = team(of: request) else {
            return Self.words(401, "Unable to verify authorization token")
        }
        guard let bytes = Base64.decode(utf8: request.body), let message = try? SignedData(bytes[...]),
            let fields = Self.fields(of: message.content), let receipt = PostedReceipt(fields)
        else { return Self.words(400, "Bad Payload") }
        guard team.appIDPrefixes.contains(where: { receipt.appID.hasPrefix("\($0).") }) else {
            return Self.words(401, "Unable to verify authorization token")
        }
        guard receipt.environment == environment.receiptName else { return Self.words(400, "Incorrect Environment") }
        let now = clock.now
        guard let key = try? ECPublicKey(curve: .p256, x963: authority.receiptSigner.key.point),
            message.isSigned(by: key), now <= receipt.expires, now < receipt.created + Self.memory
        else { return Self.words(404, "No data found for the supplied receipt") }
        let metric = state.withLock { state -> Int? in
            guard !state.forgotten.contains(receipt.keyID) else { return nil }
            return state.riskMetrics[receipt.keyID] ?? state.riskMetric
        }
        guard let metric else { return Self.words(404, "No data found for the supplied receipt") }
        let isEarly = state.withLock { state in
            let earliest = state.notBefore[receipt.keyID] ?? receipt.notBefore ?? Instant(milliseconds: .min)
            guard now >= earliest else { return true }
            state.notBefore[receipt.keyID] = now + .days(1)
            return false
        }
        if isEarly { return OutboundResponse(status: 304) }
        let renewed = ReceiptTemplate(
            fields: ReceiptField.refreshed(fields, riskMetric: "\(metric)", at: now), signedBy: authority)
        guard let signed = try? renewed.signed() else { return Self.words(500, "Internal Server Error") }
        return Self.words(200, Base64.encode(signed))
    }

    private static func fields(of content: [UInt8]) -> [ReceiptField]? {
        do {
            var reader = try DERReader.single(.set, in: content[...]).reader
            var fields: [ReceiptField] = []
            while !reader.isAtEnd {
                var field = try reader.next(.sequence).reader
                let type = try UInt64(field.smallInteger())
                let version = try UInt64(field.smallInteger())
                fields.append(ReceiptField(type: type, version: version, value: Array(try field.octetString())))
            }
            return fields
        } catch {
            return nil
        }
    }
}

/// What the server looks at in a receipt.
private struct PostedReceipt {
    let appID: String
    let environment: String
    /// The identifier of the key that it is about, in Base 64.
    let keyID: String
    let created: Instant
    let notBefore: Instant?
    let expires: Instant

    init?(_ fields: [ReceiptField]) {
        func text(_ kind: ReceiptField.Kind) -> String? {
            fields.first { $0.type == kind.rawValue }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        guard let appID = text(.appID), let environment = text(.environment),
            let der = fields.first(where: { $0.type == ReceiptField.Kind.certificate.rawValue })?.value,
            let certificate = try? Certificate(der: der[...]),
            let created = text(.creationTime).flatMap({ Instant(rfc3339: $0) }),
            let expires = text(.expirationTime).flatMap({ Instant(rfc3339: $0) })
        else { return nil }
        self.appID = appID
        self.environment = environment
        self.created = created
        self.expires = expires
        keyID = Base64.encode(SHA256.hash(Array(certificate.key.bytes)))
        notBefore = text(.notBefore).flatMap { Instant(rfc3339: $0) }
    }
}
