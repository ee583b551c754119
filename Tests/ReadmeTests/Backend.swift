import AssayCore
import AssayKit
import AssayVerifier
import Logging

func makeVerifier(http: any OutboundHTTP, logger: Logger) -> AppCheckVerifier? {
    EndpointURL("https://assay.example.com/v1/jwks").map { keySet in
        AppCheckVerifier(
            keySet: keySet,
            requirements: TokenRequirements(
                issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/1234567890"),
            cacheLimit: 10_000, http: http, logger: logger)
    }
}

/// The app that sent a request, by its header `X-Firebase-AppCheck`; nil where no token proves one.
func app(of header: String?, _ verifier: AppCheckVerifier) async -> String? {
    guard case .verified(let token)? = try? await verifier.verify(header) else { return nil }
    return token.subject
}
