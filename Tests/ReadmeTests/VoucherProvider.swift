import AssayCore
import AssayCrypto
import AssayKit

struct VoucherProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable { let key: SecretReference }

    struct Request: RequestMessage {
        let (voucher, challenge, code): (String, [UInt8], [UInt8])
        let counter: UInt64
        init(_ fields: RequestFields) throws(InvalidRequest) {
            (voucher, challenge) = (try fields.string("voucher"), try fields.bytes("challenge"))
            (code, counter) = (try fields.bytes("code"), UInt64(clamping: try fields.integer("counter") ?? 0))
        }
    }

    static let wrongCode = Reason("voucher_code_wrong", "The code is not the one of the key.")
    static let usedVoucher = Reason("voucher_used", "The voucher was used before.")
    static let usedCounter = Reason("voucher_counter_used", "The counter is not greater than the one before.")
    static let descriptor = PluginDescriptor.provider(
        name: "voucher", summary: "Vouchers.", reasons: [wrongCode, usedVoucher, usedCounter])
    static let methods: [ProviderMethod<VoucherProvider>] = [
        .challenge("generateVoucherChallenge"),
        .exchange("exchangeVoucher", challenge: \.challenge, storesChallenge: false) {
            (provider, request: Request, context) in
            provider.appraise(request, context)
        },
    ]

    private let key: HMACSHA256

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        guard let secret = try? host.secrets.resolve(configuration.key), secret.count >= 32 else {
            throw ConfigurationError(at: ["key"], "\(configuration.key) cannot be read, or is short")
        }
        key = HMACSHA256(key: secret)
    }

    func appraise(_ request: Request, _ context: ProviderContext) -> Verdict {
        let message = request.challenge + request.counter.bigEndianBytes + Array(request.voucher.utf8)
        guard key.isValid(request.code, for: message[...]) else { return .refused(Self.wrongCode) }
        let voucher = Hex.encode(SHA256.hash(Array(request.voucher.utf8)))
        return .verified(
            Appraisal(uses: [
                EvidenceUse(context.appState.advancing("counter", to: request.counter), otherwise: Self.usedCounter),
                EvidenceUse(
                    context.appState.inserting(
                        "voucher/\(voucher)", expires: context.now + .seconds(86_400), isListed: false),
                    otherwise: Self.usedVoucher),
            ]))
    }
}
