internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// The entries of the deny list that administrators added through the API: one document of the state store, so that a server
/// reads all of them in one step.
package struct StoredDenials: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let id: ExactText
        /// The number of its project.
        let project: ExactText
        /// The app ID or OAuth client ID; nil for all of the project.
        let app: ExactText?
        /// What it refuses, as the administrator wrote it: an object with facts, or with `jti`.
        let match: JSON
        let until: Instant?
        let note: ExactText?
        let created: Instant
        /// The policy's name of the caller that added it.
        let creator: ExactText

        static func == (one: Entry, other: Entry) -> Bool { one.id == other.id && one.project == other.project }
    }

    var entries: [Entry] = []

    /// The most entries of all projects, as many as fit in one document.
    static let entryLimit = 1000
    /// The most entries of one project, so that none can use up what others need.
    static let projectLimit = 500
    /// The most bytes of what one entry refuses, as JSON.
    static let matchLimit = 512
    private static let bytesLimit = 1 << 20
    /// How long an entry is kept after its end, for the list.
    private static let memory = Duration.seconds(86_400)

    static func document(in store: any StateStore) -> VersionedDocument {
        VersionedDocument(in: StateSpace("denials/all", in: store))
    }

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
            denials.entries.removeAll { entry in entry.until.map { $0 + memory < now } ?? false }
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
    /// The name of the resource.
    var name: String { "projects/\(project)/denyEntries/\(id)" }

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

    /// The entry as the deny list reads it.
    ///
    /// - Throws: what is wrong with it.
    func policy() throws(Diagnostics) -> DenyPolicy {
        try DenyReader.read(
            match: match.encoded, app: app?.string, project: project.string, until: until, note: note?.string,
            name: name)
    }
}

extension StoredDenials {
    // A value has two bytes or more.
    private static let limits = JSON.Limits(
        bytes: bytesLimit, depth: 8, values: bytesLimit / 2, allowsRepeatedNames: false)

    var encoded: [UInt8] {
        let all = entries.map { entry -> JSON in
            var members = [
                JSONMember("id", .string(entry.id.string)), JSONMember("project", .string(entry.project.string)),
                JSONMember("match", entry.match), JSONMember("created", .integer(entry.created.milliseconds)),
                JSONMember("creator", .string(entry.creator.string)),
            ]
            if let app = entry.app { members.append(JSONMember("app", .string(app.string))) }
            if let until = entry.until { members.append(JSONMember("until", .integer(until.milliseconds))) }
            if let note = entry.note { members.append(JSONMember("note", .string(note.string))) }
            return .object(members)
        }
        return JSON.object(["version": 1, "entries": .array(all)]).encoded
    }

    /// - Throws: when the bytes are not what ``encoded`` makes: an entry that cannot be read must not be forgotten.
    init(decoding bytes: [UInt8]?, of document: VersionedDocument) throws(VersionedDocument.Damaged) {
        guard let bytes else { return }
        let damaged = document.damaged
        guard let json = try? JSON.parse(bytes, limits: Self.limits), json["version"] == 1,
            let entries = json["entries"]?.array
        else { throw damaged }
        for entry in entries {
            guard let id = entry["id"]?.string, let project = entry["project"]?.string, let match = entry["match"],
                let created = entry["created"]?.integer, let creator = entry["creator"]?.string
            else { throw damaged }
            self.entries.append(
                Entry(
                    id: ExactText(id), project: ExactText(project), app: entry["app"]?.string.map { ExactText($0) },
                    match: match, until: entry["until"]?.integer.map { Instant(milliseconds: $0) },
                    note: entry["note"]?.string.map { ExactText($0) }, created: Instant(milliseconds: created),
                    creator: ExactText(creator)))
        }
    }
}
