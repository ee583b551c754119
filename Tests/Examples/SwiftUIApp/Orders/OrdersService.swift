import AssayClient
import Foundation

struct Order: Identifiable, Decodable, Sendable {
    let id: Int
    let title: String
}

/// The app's tokens, and the backend that wants them.
struct OrdersService: Sendable {
    let appCheck: AppCheck
    private let calls: ProtectedCalls

    init() throws(AppCheckError) {
        #if targetEnvironment(simulator)
        // It prints a debug token, which you register with your server.
        let provider: any AppCheckProvider = DebugProvider()
        #else
        let provider: any AppCheckProvider = AppAttestProvider()
        #endif
        appCheck = try AppCheck(
            app: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890", endpoint: "https://assay.example.com",
            provider: provider)
        calls = ProtectedCalls(appCheck: appCheck)
    }

    func orders() async throws(AppCheckError) -> [Order] {
        guard let url = URL(string: "https://api.example.com/orders") else { return [] }
        let (data, response) = try await calls.data(for: URLRequest(url: url))
        guard response.statusCode == 200, let orders = try? JSONDecoder().decode([Order].self, from: data) else {
            throw AppCheckError(.malformedReply, "The backend sent no orders.", status: response.statusCode)
        }
        return orders
    }
}
