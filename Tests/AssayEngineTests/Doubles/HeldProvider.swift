import AssayCore
import AssayKit

/// A provider whose appraisals call somebody over HTTP, so that a test counts them and holds them there.
struct HeldProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let challenge: [UInt8]
        let artifact: [UInt8]?
        let isBad: Bool

        init(_ fields: RequestFields) throws(InvalidRequest) {
            challenge = try fields.bytes("challenge")
            artifact = try fields.optionalString("artifact").flatMap { Base64.decode($0) }
            isBad = try fields.bool("isBad")
        }
    }

    static let bad = Reason("held_bad", "The evidence says that it is bad.")
    static let artifactInvalid = Reason("held_artifact_invalid", "The artifact does not open.")
    static let descriptor = PluginDescriptor.provider(
        name: "held", summary: "Evidence that takes its time.", reasons: [bad, artifactInvalid],
        limits: PluginLimits(evidence: 4096))

    static let methods: [ProviderMethod<HeldProvider>] = [
        .challenge("generateHeldChallenge"),
        .exchange(
            "exchangeHeldEvidence", challenge: { (request: Request) in request.challenge }, reply: .enclosed,
            replyFields: [.required("artifact", .bytes)]
        ) { provider, request, context in
            try await provider.appraise(request, context)
        },
    ]

    private let http: any OutboundHTTP

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        http = host.http
    }

    private func appraise(_ request: Request, _ context: ProviderContext) async throws -> Verdict {
        if let url = EndpointURL("https://vendor.example.com/") {
            _ = try? await http.send(OutboundRequest(.get, url))
        }
        if request.isBad { return .refused(HeldProvider.bad) }
        if let artifact = request.artifact, context.sealer.open(artifact) == nil {
            return .refused(HeldProvider.artifactInvalid)
        }
        return .verified(Appraisal(reply: [.bytes("artifact", try context.sealer.seal([1, 2, 3]))]))
    }
}
