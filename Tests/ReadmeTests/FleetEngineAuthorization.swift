import AssayClient

#if canImport(GoogleRidesharingDriver)
import Foundation
import GoogleRidesharingDriver

/// Gives Google's Driver SDK its tokens.
final class DriverAuthorization: NSObject, GMTDAuthorization {
    private let tokens: FleetEngineTokens
    private let context: @Sendable (String) -> FleetEngineContext

    /// With scheduled tasks, `context` is `FleetEngineContext.deliveryVehicle`.
    init(
        _ tokens: FleetEngineTokens,
        context: @escaping @Sendable (String) -> FleetEngineContext = FleetEngineContext.vehicle
    ) {
        self.tokens = tokens
        self.context = context
    }

    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping GMTDAuthTokenFetchCompletionHandler
    ) {
        // Google's samples call it from a queue of URLSession's.
        nonisolated(unsafe) let completion = completion
        let vehicle: String? = authorizationContext?.vehicleID
        tokens.fetchToken(for: vehicle.map(context)) { completion($0, $1) }
    }
}
#endif

#if canImport(GoogleRidesharingConsumer)
import Foundation
import GoogleRidesharingConsumer

/// Gives Google's Consumer SDK its tokens.
final class ConsumerAuthorization: NSObject, GMTCAuthorization {
    private let tokens: FleetEngineTokens

    init(_ tokens: FleetEngineTokens) {
        self.tokens = tokens
    }

    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping GMTCAuthTokenFetchCompletionHandler
    ) {
        nonisolated(unsafe) let completion = completion
        let trip: String? = authorizationContext?.tripID
        tokens.fetchToken(for: trip.map { .trip($0) }) { completion($0, $1) }
    }
}
#endif
