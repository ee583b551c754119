/// Problems that already know their places, on their way up through `Decodable` initializers.
struct LocatedFailure: Error {
    let diagnostics: [Diagnostic]

    /// How many problems one decoding gathers before it gives up.
    static let limit = 100

    init(_ diagnostics: [Diagnostic]) {
        self.diagnostics = diagnostics
    }

    /// The problems within an error; nil for an error that has no place yet.
    init?(in error: any Error) {
        if let failure = error as? LocatedFailure {
            self = failure
        } else if let context = (error as? DecodingError)?.context, let failure = context.underlyingError {
            guard let located = failure as? LocatedFailure else { return nil }
            self = located
        } else {
            return nil
        }
    }
}

extension DecodingError {
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }
}
