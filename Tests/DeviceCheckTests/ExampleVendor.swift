import AssayCore
import AssayCrypto
import AssayDeviceCheck
import AssayKit

/// Another vendor's check of device tokens: JSON both ways, a key in a header, no bits.
struct ExampleVendor: DeviceTokenUpstream {
    let server: EndpointURL
    let apiKey: String

    var keepsBits: Bool { false }

    /// 64 hexadecimal digits.
    func canonical(_ deviceToken: String) -> String? {
        guard deviceToken.utf8.count == 64, let bytes = Hex.decode(deviceToken) else { return nil }
        return Hex.encode(bytes)
    }

    func credential(at now: Instant, insteadOf refused: String?) throws -> String { apiKey }

    func request(_ question: DeviceQuestion, credential: String, at now: Instant) throws -> OutboundRequest {
        guard case .validate = question.kind, let url = server.appending("/devices/check") else {
            throw UpstreamFailure(.notSent, "this vendor keeps no bits")
        }
        let body: JSON = ["token": .string(question.deviceToken), "request": .string(question.transaction)]
        return OutboundRequest(
            .post, url, headers: [OutboundHeader("X-API-Key", credential)], body: body.encoded, responseLimit: 1024)
    }

    func read(_ response: OutboundResponse, to question: DeviceQuestion) throws -> UpstreamVerdict<DeviceBits?> {
        switch (response.status, response.json?["verdict"]?.string) {
        case (200, "genuine"): return .genuine(nil)
        case (200, "unknown"): return .refused(detail: "the vendor does not know the device")
        default: throw UpstreamFailure(response)
        }
    }
}

/// The provider of that vendor: a name, a configuration and a method.
struct ExampleVendorProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let apiKey: SecretReference
        let baseURL: EndpointURL
        let refuseWhen: DeviceBitsRule?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case apiKey = "api_key"
            case baseURL = "base_url"
            case refuseWhen = "refuse_when"
        }
    }

    struct Request: RequestMessage {
        let deviceToken: String

        init(_ fields: RequestFields) throws(InvalidRequest) {
            deviceToken = try fields.string("deviceToken")
        }
    }

    static let reasons = DeviceTokenReasons(prefix: "example_token")

    static let descriptor = PluginDescriptor.provider(
        name: "example_vendor", summary: "Device tokens of another vendor.", reasons: reasons.all,
        facts: DeviceTokenAppraiser.facts, metrics: DeviceTokenAppraiser.metrics, limits: PluginLimits(evidence: 128))

    static let methods: [ProviderMethod<ExampleVendorProvider>] = [
        .exchange("exchangeExampleVendorToken") { (provider, request: Request, context) in
            try await provider.appraiser.appraise(request.deviceToken, context)
        }
    ]

    private let appraiser: DeviceTokenAppraiser

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        let key: [UInt8]?
        do throws(SecretError) {
            key = try host.secrets.resolve(configuration.apiKey)
        } catch {
            throw ConfigurationError(at: ["api_key"], error.message)
        }
        guard let key else { throw ConfigurationError(at: ["api_key"], "\(configuration.apiKey) is not set") }
        appraiser = try DeviceTokenAppraiser(
            upstream: ExampleVendor(server: configuration.baseURL, apiKey: String(decoding: key, as: UTF8.self)),
            account: app.resource, rules: DeviceTokenRules(refuseWhen: configuration.refuseWhen),
            reasons: Self.reasons, host: host)
    }
}
