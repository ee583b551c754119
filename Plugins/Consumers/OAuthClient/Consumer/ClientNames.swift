public import AssayCore
internal import AssayKit

/// A client ID in a policy: printable ASCII (RFC 6749, appendix A.1).
public struct ClientIdentifier: Decodable, Sendable, Hashable, WrittenAsText {
    /// How the text is written in a policy.
    public static let textForm = TextForm(
        "A client ID.", pattern: "^[\\x20-\\x7E]{1,1024}$", examples: ["example-ios"])

    /// The text as the policy has it.
    @Exact public private(set) var text: String

    /// Decodes the text.
    ///
    /// - Throws: `DecodingError` when it does not have the form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard (1...ClientAttestation.clientLimit).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a client ID: 1 to 1024 characters of printable ASCII")
        }
    }
}

/// The name of a server in a policy, such as an issuer identifier: any text of 1 to 2048 characters.
public struct AudienceName: Decodable, Sendable, Hashable, WrittenAsText {
    /// How the text is written in a policy.
    public static let textForm = TextForm(
        "The identifier of a server, as clients name it.", pattern: "^[\\s\\S]{1,2048}$",
        examples: ["https://login.example.com"])

    /// The text as the policy has it.
    @Exact public private(set) var text: String

    /// Decodes the text.
    ///
    /// - Throws: `DecodingError` when it does not have the form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard (1...2048).contains(text.unicodeScalars.count) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected 1 to 2048 characters")
        }
    }
}

/// The OAuth clients, and the client of each app.
struct ClientNames: Sendable {
    /// The clients of the project, including those that apps are mapped to.
    let all: Set<ExactText>
    private let byApp: [ExactText: String]
    private let subjects: [ExactText: Set<ExactText>]

    init(_ map: [ExactText: String], scope: ConsumerScope, problems: inout ConfigurationProblems) {
        let own = scope.apps.filter { $0.kind == .oauthClient }
        let apps = scope.apps.filter { $0.kind == .app }
        for (app, client) in map.sorted(by: { $0.key < $1.key }) {
            guard let known = apps.first(where: { $0.subject.isExactly(app.string) }) else {
                problems.report(
                    at: ["clients", .key(app.string)], "unknown app `\(app)` among the `apps` of this project")
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

    /// The client of an app; nil when there is none.
    func client(of app: AppIdentity) -> String? {
        app.kind == .oauthClient ? app.subject : byApp[app.subject]
    }

    /// Whose tokens speak for a client: the client itself, and the apps that it is.
    func subjects(of client: String) -> Set<ExactText> {
        subjects[client] ?? []
    }
}
