package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// The entries of the deny list that administrators added through the API: one document of the state store, so that a server
/// reads all of them in one step.
package struct StoredDenials: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let id: ExactText
        /// The number of its project.
        package let project: ExactText
        /// The app ID or OAuth client ID; nil for all of the project.
        package let app: ExactText?
        /// What it refuses, as the administrator wrote it: an object with facts, or with `jti`.
        package let match: JSON
        package let until: Instant?
        package let note: ExactText?
        package let created: Instant
        /// The policy's name of the caller that added it.
        package let creator: ExactText

        package init(
            id: ExactText, project: ExactText, app: ExactText?, match: JSON, until: Instant?, note: ExactText?,
            created: Instant, creator: ExactText
        ) {
            self.id = id
            self.project = project
            self.app = app
            self.match = match
            self.until = until
            self.note = note
            self.created = created
            self.creator = creator
        }

        package static func == (one: Entry, other: Entry) -> Bool { one.id == other.id && one.project == other.project }
    }

    package var entries: [Entry] = []

    package static let bytesLimit = 1 << 20

    package static func document(in store: any StateStore) -> VersionedDocument {
        VersionedDocument(in: StateSpace("denials/all", in: store))
    }

}

extension StoredDenials.Entry {
    /// The name of the resource.
    package var name: String { "projects/\(project)/denyEntries/\(id)" }

    /// The entry as the deny list reads it.
    ///
    /// - Throws: what is wrong with it.
    package func policy() throws(Diagnostics) -> DenyPolicy {
        try DenyReader.read(
            match: match.encoded, app: app?.string, project: project.string, until: until, note: note?.string,
            name: name)
    }
}

extension StoredDenials {
    // A value has two bytes or more.
    private static let limits = JSON.Limits(
        bytes: bytesLimit, depth: 8, values: bytesLimit / 2, allowsRepeatedNames: false)

    package var encoded: [UInt8] {
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
    package init(decoding bytes: [UInt8]?, of document: VersionedDocument) throws(VersionedDocument.Damaged) {
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
