internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Logging

extension RiskMetricWatch {
    private static let interval = Duration.seconds(120)
    private static let timeLimit = Duration.seconds(100)
    /// How many receipts are exchanged at the same time; as many requests a server sends for one app.
    private static let concurrency = 8
    private static let pageSize = 64
    /// With less time than this left, no further exchange is begun.
    private static let reserve = Duration.seconds(20)

    /// Apple answers that it is too early, although it is time: clocks differ.
    private static let earlyBackoff = Backoff(first: .seconds(3600), limit: .seconds(86_400))
    /// The server or the connection to it is out of order.
    private static let serviceBackoff = Backoff(first: .seconds(300), limit: .seconds(6 * 3600))
    /// Apple has nothing for this receipt now, but may have when the app attests again on the device.
    private static let nothingRecentPause = Duration.seconds(7 * 86_400)
    /// Apple does not like this receipt, and hardly will tomorrow.
    private static let receiptBackoff = Backoff(first: .seconds(86_400), limit: .seconds(7 * 86_400))

    /// Exchanges the receipts that are due.
    var maintenance: Maintenance {
        Maintenance(every: Self.interval, timeLimit: Self.timeLimit) { context in try await refresh(context) }
    }

    /// - Throws: when other receipts would fare no better, so that the kernel waits for longer, and for as long as Apple
    ///   asks: ``ReceiptExchangeFailure`` or `MaintenancePause`.
    private func refresh(_ context: MaintenanceContext) async throws {
        let receipts = receipts(in: context.state)
        var last: KeptReceipts.Wish?
        while hasTime(context) {
            let page = try await receipts.due(at: context.clock.now, after: last, limit: Self.pageSize)
            last = page.last
            try await refresh(page, receipts, context)
            guard page.count == Self.pageSize else { return }
        }
    }

    private func refresh(
        _ wishes: [KeptReceipts.Wish], _ receipts: KeptReceipts, _ context: MaintenanceContext
    ) async throws {
        try await withThrowingTaskGroup(of: ReceiptExchangeFailure?.self) { group in
            var obstacle: ReceiptExchangeFailure?
            var running = 0
            for wish in wishes {
                if running == Self.concurrency {
                    if let failure = try await group.next() { obstacle = obstacle ?? failure }
                    running -= 1
                }
                guard obstacle == nil, hasTime(context) else { break }
                group.addTask { try await fulfil(wish, receipts, context) }
                running += 1
            }
            // An exchange that has begun is finished: its outcome must be stored.
            for try await failure in group { obstacle = obstacle ?? failure }
            if let pause = obstacle?.retryAfter { throw MaintenancePause(for: pause, obstacle?.description ?? "") }
            if let obstacle { throw obstacle }
        }
    }

    private func hasTime(_ context: MaintenanceContext) -> Bool {
        !Task.isCancelled && context.clock.now + Self.reserve < context.deadline
    }

    /// Exchanges one receipt.
    ///
    /// Returns the failure that others would meet with too.
    private func fulfil(
        _ wish: KeptReceipts.Wish, _ receipts: KeptReceipts, _ context: MaintenanceContext
    ) async throws -> ReceiptExchangeFailure? {
        guard try await current(wish, receipts) != nil, try await receipts.claim(wish.key, at: context.clock.now)
        else { return nil }
        // Another server may have done it between the look and the claim.
        guard let kept = try await current(wish, receipts) else {
            try await receipts.release(wish.key)
            return nil
        }
        // A receipt that has ended is not exchanged: what is known of its key is kept.
        let outcome =
            kept.expires < context.clock.now
            ? .nothingRecent : await exchange.exchange(kept, deadline: context.deadline - .seconds(5))
        context.count(outcome.event)
        log(outcome, kept, context)
        var obstacle: ReceiptExchangeFailure?
        switch outcome {
        case .renewed(let receipt, let bytes):
            let renewed = KeptReceipt(
                receipt, bytes: bytes, environment: kept.environment, publicKey: kept.publicKey, root: root)
            try await receipts.keep(renewed, of: wish.key)
            try await receipts.drop(wish)
        case .unchanged:
            let pause = Self.earlyBackoff.delay(after: Int(kept.failures) + 1, randomness: exchange.randomness)
            try await postpone(kept, wish, until: context.clock.now + pause, receipts)
        case .nothingRecent:
            // It stays what it was, known or unknown, as long as it is used at least once in this time.
            var later = kept
            later.failures = 0
            later.nextTry = context.clock.now + max(Self.nothingRecentPause, rules.refreshInterval)
            try await receipts.keep(later, of: wish.key, until: context.clock.now + KeptReceipts.lifetime)
            try await receipts.drop(wish)
        case .failed(let failure) where failure.kind == .cancelled:
            obstacle = failure
        case .failed(let failure):
            let backoff = failure.concernsAll ? Self.serviceBackoff : Self.receiptBackoff
            let pause = max(
                backoff.delay(after: Int(kept.failures) + 1, randomness: exchange.randomness),
                failure.retryAfter ?? .zero)
            // Also if others would fail as well: a wish that causes the failure must not block them.
            try await postpone(kept, wish, until: context.clock.now + pause, receipts)
            if failure.concernsAll { obstacle = failure }
        }
        try await receipts.release(wish.key)
        return obstacle
    }

    /// The receipt of a wish; if none agrees with it, the wish is dropped.
    private func current(_ wish: KeptReceipts.Wish, _ receipts: KeptReceipts) async throws -> KeptReceipt? {
        if let kept = try await known(wish.key, receipts), receipts.wish(for: kept, wish.key) == wish { return kept }
        try await receipts.drop(wish)
        return nil
    }

    private func postpone(
        _ kept: KeptReceipt, _ wish: KeptReceipts.Wish, until next: Instant, _ receipts: KeptReceipts
    ) async throws {
        var later = kept
        later.nextTry = next
        later.failures = kept.failures < .max ? kept.failures + 1 : .max
        try await receipts.wish(later, of: wish.key)
        try await receipts.keep(later, of: wish.key)
        try await receipts.drop(wish)
    }

    private func log(_ outcome: ReceiptExchangeOutcome, _ kept: KeptReceipt, _ context: MaintenanceContext) {
        var metadata: Logger.Metadata = [
            "code": "\(outcome.event)", "key_id": "\(Base64.encode(SHA256.hash(kept.publicKey)))",
            "environment": "\(kept.environment.rawValue)",
        ]
        switch outcome {
        case .renewed(let receipt, _):
            metadata["risk_metric"] = "\(receipt.riskMetric ?? 0)"
            context.logger.debug("receipt exchanged", metadata: metadata)
        case .unchanged:
            context.logger.info("receipt not exchanged yet", metadata: metadata)
        case .nothingRecent:
            context.logger.info("Apple has nothing recent for a receipt: its metric stays", metadata: metadata)
        case .failed(let failure):
            // What an operator has to see to is that which concerns all; the kernel warns of it once a run.
            metadata["detail"] = failure.detail.map { "\($0)" }
            context.logger.notice("receipt not exchanged", metadata: metadata)
        }
    }
}
