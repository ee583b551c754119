internal import ServiceLifecycle

/// Services that end at the same time.
///
/// Each listener gives its clients some time at shutdown. One after the other they would take longer than the operator allows,
/// and the process would be killed before what follows, such as the last records.
struct SimultaneousServices: Service {
    private let services: [any Service]

    init(_ services: [any Service]) {
        self.services = services
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            defer { group.cancelAll() }
            try await group.next()
            // One that ends by itself is a fault, and ends the others.
            if Task.isShuttingDownGracefully { try await group.waitForAll() }
        }
    }
}
