internal import AssayApple
internal import AssayCore
internal import AssayKit

/// Exchanges a receipt at Apple's servers for a newer one, which carries the risk metric (Apple, Assessing Fraud Risk).
struct ReceiptExchange: Sendable {
    /// How long one request may take.
    private static let requestLimit = Duration.seconds(10)
    /// The most bytes of an answer: Base 64 of twice the largest receipt that is read.
    private static let responseLimit = 128 * 1024
    /// How often a request is made that fails for a while only.
    private static let tries = 4
    /// Waiting for longer than this is not done here: the receipt is put off.
    private static let patience = Duration.seconds(30)
    private static let backoff = Backoff(first: .seconds(1), limit: .seconds(15))
    /// How long ago an answer may have been made (Apple: five minutes).
    private static let maximumAge = Duration.seconds(300)

    let http: any OutboundHTTP
    let clock: HostClock
    let randomness: Randomness
    let key: AppleServerKey
    let form: AppleAuthorizationForm
    /// Environments do not mix: each has a server of its own.
    let endpoints: [AppAttestEnvironment: EndpointURL]
    let verifier: ReceiptVerifier
    let appID: AppAttestAppID

    /// Exchanges a receipt; all waiting ends by `deadline`.
    func exchange(_ kept: KeptReceipt, deadline: Instant) async -> ReceiptExchangeOutcome {
        var failures = 0
        var refused: AppleServerToken?
        while true {
            let token: AppleServerToken
            do {
                token = try key.token(at: clock.now, insteadOf: refused)
            } catch {
                return .failed(ReceiptExchangeFailure(.notSent, "\(error)"))
            }
            switch await ask(kept, token, deadline) {
            case .unchanged: return .unchanged
            case .nothingRecent: return .nothingRecent
            case .receipt(let bytes): return verified(bytes, kept)
            case .failed(let failure) where failure.kind == .unauthorized && refused == nil:
                refused = token
            case .failed(let failure) where failure.isTransient:
                failures += 1
                let delay = max(
                    Self.backoff.delay(after: failures, randomness: randomness), failure.retryAfter ?? .zero)
                guard failures < Self.tries, delay <= Self.patience, clock.now + delay < deadline else {
                    return .failed(failure)
                }
                guard (try? await clock.sleep(for: delay)) != nil else {
                    return .failed(ReceiptExchangeFailure(.cancelled, "while waiting after \(failure)"))
                }
            case .failed(let failure): return .failed(failure)
            }
        }
    }

    private func ask(_ kept: KeptReceipt, _ token: AppleServerToken, _ deadline: Instant) async -> ReceiptExchangeAnswer
    {
        guard let url = endpoints[kept.environment] else {
            return .failed(ReceiptExchangeFailure(.notSent, "no server for \(kept.environment.rawValue)"))
        }
        let remaining = deadline - clock.now
        guard remaining > .zero else { return .failed(ReceiptExchangeFailure(.timedOut, "no time is left")) }
        let request = OutboundRequest(
            .post, url, headers: [OutboundHeader("Authorization", form.header(token))],
            body: Array(Base64.encode(kept.receipt).utf8), timeLimit: min(Self.requestLimit, remaining),
            responseLimit: Self.responseLimit)
        do throws(OutboundFailure) {
            return ReceiptExchangeAnswer(try await http.send(request), at: clock.now)
        } catch {
            return ReceiptExchangeAnswer(error)
        }
    }

    /// Verifies a new receipt like any other: chain, signature, App ID, environment, age, and the same key.
    private func verified(_ bytes: [UInt8], _ kept: KeptReceipt) -> ReceiptExchangeOutcome {
        let expectation = ReceiptExpectation(
            appID: appID, publicKey: kept.publicKey, environment: kept.environment, maximumAge: Self.maximumAge)
        switch verifier.verify(bytes, expecting: expectation, at: clock.now) {
        case .verified(let receipt) where receipt.kind == .exchange:
            return .renewed(receipt, bytes: bytes)
        case .verified:
            return .failed(
                ReceiptExchangeFailure(.receiptRefused, AppAttestReasons.receiptTypeUnexpected.code))
        case .legacy2020:
            return .failed(
                ReceiptExchangeFailure(.receiptRefused, AppAttestReasons.receiptLegacyNotAllowed.code))
        case .refused(let refusal):
            return .failed(ReceiptExchangeFailure(.receiptRefused, refusal.description))
        }
    }
}

/// The outcome of an exchange.
enum ReceiptExchangeOutcome: Sendable, Hashable {
    /// Apple gave a newer receipt, which is verified.
    case renewed(Receipt, bytes: [UInt8])
    /// 304: the receipt is exchanged too early; it stays the newest one.
    case unchanged
    /// 404: Apple has nothing from the last 30 days for the receipt, which says nothing about the key.
    case nothingRecent
    case failed(ReceiptExchangeFailure)

    var event: MaintenanceEvent {
        switch self {
        case .renewed: MaintenanceEvent("receipt_exchange_renewed")
        case .unchanged: MaintenanceEvent("receipt_exchange_not_yet")
        case .nothingRecent: MaintenanceEvent("receipt_exchange_nothing_recent")
        case .failed(let failure): failure.event
        }
    }
}
