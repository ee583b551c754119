internal import AssayKit

/// Which OAuth clients there are, and which of them an app is.
struct ClientNames: Sendable {
    /// The clients of the project, those that apps are mapped to among them.
    let all: Set<ExactText>
    private let byApp: [ExactText: String]
    private let subjects: [ExactText: Set<ExactText>]

    init(_ map: [ExactText: String], scope: ConsumerScope, problems: inout ConfigurationProblems) {
        let own = scope.apps.filter { $0.kind == .oauthClient }
        let apps = scope.apps.filter { $0.kind == .app }
        for (app, client) in map.sorted(by: { $0.key < $1.key }) {
            guard let known = apps.first(where: { $0.subject.isExactly(app.string) }) else {
                problems.report(
                    at: ["clients", .key(app.string)], "there is no app `\(app)` among the `apps` of this project")
                continue
            }
            if let other = own.first(where: { $0.subject.isExactly(client) }),
                !other.linkedApp.isExactly(known.resource)
            {
                problems.report(
                    at: ["clients", .key(app.string)],
                    "the OAuth client `\(client)` is linked to another app than this one")
            }
        }
        byApp = map
        all = Set(exactly: own.map(\.subject) + map.values)
        var subjects: [ExactText: Set<ExactText>] = [:]
        for client in own { subjects[client.subject, default: []].insert(client.subject) }
        for (app, client) in map { subjects[client, default: []].insert(app) }
        self.subjects = subjects
    }

    /// The client that an app is; nil when it is none.
    func client(of app: AppIdentity) -> String? {
        app.kind == .oauthClient ? app.subject : byApp[app.subject]
    }

    /// Whose tokens speak for a client: the client itself, and the apps that it is.
    func subjects(of client: String) -> Set<ExactText> {
        subjects[client] ?? []
    }
}
