import AssayClient
import Combine

/// What the view shows.
@MainActor
final class OrdersModel: ObservableObject {
    enum Content {
        case loading
        case orders([Order])
        case failed(String)
    }

    @Published private(set) var content = Content.loading

    private let service: Result<OrdersService, AppCheckError>

    init() {
        service = Result { () throws(AppCheckError) in try OrdersService() }
    }

    /// Loads the orders; what is shown stays when the view goes away meanwhile.
    func load() async {
        do throws(AppCheckError) {
            content = .orders(try await service.get().orders())
        } catch {
            if error.code != .cancelled { content = .failed(Self.words(for: error)) }
        }
    }

    /// Keeps the token fresh while the view is there.
    func keepTokenFresh() async {
        guard let service = try? service.get() else { return }
        for await update in service.appCheck.updates {
            // For the developer: the user sees it with the next call.
            if case .failure(let error) = update { print("App Check: \(error)") }
        }
    }

    /// What a user can do about an error.
    private static func words(for error: AppCheckError) -> String {
        switch error.code {
        case .unreachable, .timedOut: "The service cannot be reached. Check your connection."
        case .throttled, .unavailable: "The service is busy. Try again later."
        case .refused:
            "This device could not be verified. Tell our support: \(error.decision ?? "no number")."
        case .unsupportedDevice: "This device does not have what the app needs."
        default: "Something is wrong with this version of the app. Look for an update."
        }
    }
}
