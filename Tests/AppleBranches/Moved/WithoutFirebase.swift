// An app with Assay's client alone, by the lines of the article.
import AssayClient
import Foundation

final class App {
    var appCheck: AppCheck?

    func start(inSimulator isSimulator: Bool) {
        let app = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
        if isSimulator {
            appCheck = try? AppCheck(app: app, endpoint: "https://assay.example.com", provider: DebugProvider())
        } else {
            appCheck = try? AppCheck(app: app, endpoint: "https://assay.example.com", provider: AppAttestProvider())
        }
    }

    func header() async throws -> String? {
        try await appCheck?.token(forcingRefresh: false).token
    }
}
