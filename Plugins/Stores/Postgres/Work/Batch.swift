internal import AssayCore

/// The requests that one connection sends together, and the transactions in which it does.
///
/// For one thread.
final class Batch {
    private let queue: RequestQueue
    private let place: String
    /// The requests of each segment of the pipeline.
    private let segments: [[Request]]
    private var answered: Set<Int> = []
    /// Why the connection must not be used any more, when the server said so.
    private(set) var ending: ServerError?

    private static let mostRepetitions = 20

    /// Reads have a segment each.
    ///
    /// Writes share one, so that the disk is waited for once; they run in the order in which all
    /// transactions lock rows; those whose shared transaction was rolled back have one each.
    init(_ requests: [Request], queue: RequestQueue, place: String) {
        self.queue = queue
        self.place = place
        let shared = requests.filter { $0.kind == .write && !$0.isAlone }
        var segments = requests.filter { $0.kind == .read }.map { [$0] }
        if !shared.isEmpty {
            segments.append(
                shared.sorted { left, right in
                    guard let right = right.order else { return false }
                    return left.order.map { $0 < right } ?? true
                })
        }
        segments += requests.filter { $0.kind == .write && $0.isAlone }.map { [$0] }
        self.segments = segments
    }

    var steps: [[Step]] { segments.map { $0.map(\.step) } }

    /// Tells the callers whose time is up; returns when the next one's is.
    func expire() -> ContinuousClock.Instant? {
        let now = ContinuousClock.now
        var next: ContinuousClock.Instant?
        for (index, requests) in segments.enumerated() where !answered.contains(index) {
            for request in requests {
                if request.deadline > now {
                    next = min(next ?? request.deadline, request.deadline)
                } else {
                    queue.answer(request, .failure(timeOut(request)))
                }
            }
        }
        return next
    }

    /// Takes the answer to a segment.
    func take(_ index: Int, _ result: Result<[Table], ServerError>) {
        answered.insert(index)
        let requests = segments[index]
        switch result {
        case .success(let tables):
            for (request, table) in zip(requests, tables) { queue.answer(request, .success(table)) }
        case .failure(let error):
            if error.endsConnection { ending = ending ?? error }
            queue.giveBack(requests.compactMap { sortOut($0, error, isShared: requests.count > 1) })
        }
    }

    /// What was rolled back: returns the request if it is to be sent again, and answers it otherwise.
    private func sortOut(_ request: Request, _ error: ServerError, isShared: Bool) -> Request? {
        var request = request
        request.failures += 1
        request.isAlone = true
        let mayRepeat = !error.endsConnection && (isShared || error.isConflict)
        let isLate = ContinuousClock.now >= request.deadline
        if mayRepeat, !isLate, request.failures <= Self.mostRepetitions { return request }
        queue.answer(request, .failure(error.error(at: place)))
        return nil
    }

    /// Sorts out what the lost connection has not answered.
    func lose(_ lost: ConnectionLost) {
        for (index, requests) in segments.enumerated() where !answered.contains(index) {
            for var request in requests {
                request.failures += 1
                if request.kind == .read, request.failures == 1, request.deadline > .now {
                    queue.giveBack([request])
                } else if let ending {
                    // What follows such an error was not carried out.
                    queue.answer(request, .failure(ending.error(at: place)))
                } else {
                    queue.answer(request, .failure(lost.isTimeout ? timeOut(request) : loss(lost, request)))
                }
            }
        }
    }

    private func loss(_ lost: ConnectionLost, _ request: Request) -> PostgresStoreError {
        PostgresStoreError(
            .connectionLost, "\(place): the connection was lost\(unknown(request)): \(lost.reason)")
    }

    private func timeOut(_ request: Request) -> PostgresStoreError {
        PostgresStoreError(.timedOut, "\(place): the server did not answer in time\(unknown(request))")
    }

    private func unknown(_ request: Request) -> String {
        request.kind == .read ? "" : "; whether the change was made is not known"
    }
}
