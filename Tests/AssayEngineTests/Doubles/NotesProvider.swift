import AssayCore
import AssayKit

/// A provider that keeps notes of callers that may, for tests of calls beside exchanges.
struct NotesProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Note: RequestMessage {
        let id: String
        let text: String?

        init(_ fields: RequestFields) throws(InvalidRequest) {
            id = try fields.string("noteId")
            text = try fields.message("note")?.optionalString("text")
        }
    }

    static let refusal = Reason("note_refused", "The note says that it is bad.")
    static let descriptor = PluginDescriptor.provider(
        name: "notes", summary: "Notes.", reasons: [refusal], limits: PluginLimits(evidence: 64))
    static let writing = Permission("notes.write")

    static let methods: [ProviderMethod<NotesProvider>] = [
        .call("getNote", MethodPath(.get, "/notes/{noteId}")) { (provider, note: Note, context) in
            guard let text = try await context.state.get(note.id) else {
                throw CallFailure(.notFound, "There is no such note.")
            }
            return ["text": .string(String(decoding: text, as: UTF8.self)), "caller": .string(context.caller ?? "")]
        },
        .call(
            "putNote", MethodPath(.patch, "/notes/{noteId}", body: .field("note")), permission: writing
        ) { (provider, note: Note, context) in
            guard note.text != "bad" else { throw CallFailure(.invalidArgument, "Bad.", reason: refusal) }
            try await context.state.put(note.id, value: Array((note.text ?? "").utf8))
            return [:]
        },
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
