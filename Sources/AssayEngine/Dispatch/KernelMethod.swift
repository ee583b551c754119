internal import AssayKit

/// A method that the kernel itself answers.
struct KernelMethod: Sendable {
    let descriptor: MethodDescriptor
    /// A ``CallFailure`` or an ``InvalidRequest`` that it throws is the answer; anything else means that nothing could be
    /// decided now.
    let answer: @Sendable (KernelCall) async throws -> CallOutcome
}

/// One call of a kernel's method, let in and with its resource found.
struct KernelCall: Sendable {
    let scope: DecisionScope
    let call: Call
    let fields: RequestFields
    let resource: FoundResource
    /// Whose permission was checked; nil where none is demanded.
    let caller: Caller?

    var snapshot: Snapshot { scope.snapshot }
    var now: Instant { scope.now }
    var host: PluginHost { scope.host }

    /// The project that the call is about.
    func project() throws(CallFailure) -> ProjectEntry {
        guard case .project(let project) = resource else { throw KernelCall.notFound }
        return project
    }

    /// The app or OAuth client that the call is about.
    func app() throws(CallFailure) -> AppEntry {
        guard case .app(let app) = resource else { throw KernelCall.notFound }
        return app
    }

    static let notFound = CallFailure(.notFound, "Requested entity was not found.")
}

/// What a resource's name leads to in a snapshot.
enum FoundResource: Sendable {
    case app(AppEntry)
    case project(ProjectEntry)

    var project: ProjectIdentity {
        switch self {
        case .app(let app): app.identity.project
        case .project(let project): project.identity
        }
    }

    var kind: ResourceKind {
        switch self {
        case .app(let app): app.identity.kind
        case .project: .project
        }
    }

    /// The app ID or the OAuth client ID; nil for a project.
    var app: String? {
        if case .app(let app) = self { app.identity.subject } else { nil }
    }

    /// The canonical name.
    var name: String {
        switch self {
        case .app(let app): app.identity.resource
        case .project(let project): project.name
        }
    }
}
