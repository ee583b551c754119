internal import AssayCore
internal import AssayEngine
internal import AssayKit

extension StoredDenials {
    /// The most entries of all projects, as many as fit in one document.
    static let entryLimit = 1000
    /// The most entries of one project, so that none can use up what others need.
    static let projectLimit = 500
    /// The most bytes of what one entry refuses, as JSON.
    static let matchLimit = 512
    /// How long an entry is listed after its end.
    private static let listedAfterEnd = Duration.seconds(86_400)

    /// Reads the entries in force.
    static func read(in store: any StateStore) async throws -> StoredDenials {
        let document = document(in: store)
        return try StoredDenials(decoding: try await document.read().value, of: document)
    }

    /// Changes the entries, completely or not at all; as ``ProtectionState/update(of:in:now:_:)``.
    static func update<Value>(
        in store: any StateStore, now: Instant, _ change: (inout StoredDenials) throws -> Value
    ) async throws -> Value {
        let document = document(in: store)
        return try await document.update(now: now) { bytes in
            let present = try StoredDenials(decoding: bytes, of: document)
            var denials = present
            denials.entries.removeAll { entry in entry.until.map { $0 + listedAfterEnd < now } ?? false }
            let value = try change(&denials)
            guard denials != present else { return (nil, value) }
            // What cannot be read again would stop all decisions.
            guard denials.entries.count <= entryLimit, case let encoded = denials.encoded, encoded.count <= bytesLimit,
                (try? StoredDenials(decoding: encoded, of: document)) != nil
            else {
                throw CallFailure(
                    .resourceExhausted,
                    "The deny list is full: at most \(entryLimit) entries; move lasting ones to the policies.")
            }
            return (encoded, value)
        }
    }

    /// The entries of one project, the oldest first.
    func entries(of project: ProjectIdentity) -> [Entry] {
        entries.filter { $0.project == ExactText(project.number) }
    }
}

extension StoredDenials.Entry {
    /// The entry as the API shows it.
    var message: JSON {
        var members = [JSONMember("name", .string(name)), JSONMember("match", match)]
        if let app { members.append(JSONMember("app", .string(app.string))) }
        if let note { members.append(JSONMember("note", .string(note.string))) }
        if let until { members.append(JSONMember("expireTime", .string(until.textWithMilliseconds))) }
        members.append(JSONMember("createTime", .string(created.textWithMilliseconds)))
        members.append(JSONMember("creator", .string(creator.string)))
        return .object(members)
    }
}
