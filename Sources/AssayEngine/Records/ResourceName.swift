package import AssayCore

/// The form of the names that callers give resources: `projects/*/apps/*`, `oauthClients/*` or `projects/*`.
package enum ResourceName {
    /// The outcome of a call about a resource that no policy has.
    ///
    /// Only here is a malformed name distinguished from an unknown one.
    ///
    /// - Parameter isExplained: whether the message says what is unknown; otherwise it is Google's.
    package static func refusal(of text: String, isExplained: Bool = false) -> CallOutcome {
        do throws(InvalidRequest) {
            try check(text)
        } catch {
            return .rejected(.invalidArgument, error.message)
        }
        let message =
            isExplained
            ? "The policies of this server have no such project, app or OAuth client."
            : "Requested entity was not found."
        return .rejected(.notFound, message)
    }

    /// - Throws: `InvalidRequest` when a text does not have the form of a name; it says nothing about what exists.
    package static func check(_ text: String) throws(InvalidRequest) {
        guard text.utf8.count <= 512 else { throw InvalidRequest("the resource name is too long") }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let isOfProject = parts.first.isExactly("projects")
        switch parts.count {
        case 4 where isOfProject && parts[2].isExactly("apps"):
            guard isWord(parts[1]) else { throw InvalidRequest("the project is malformed") }
            guard isAppID(parts[3]) else { throw InvalidRequest("the app ID is malformed") }
        case 2 where parts[0].isExactly("oauthClients"):
            guard isWord(parts[1]) else { throw InvalidRequest("the OAuth client ID is malformed") }
        case 2 where isOfProject:
            guard isWord(parts[1]) else { throw InvalidRequest("the project is malformed") }
        default:
            throw InvalidRequest("the resource must be projects/*/apps/*, oauthClients/* or projects/*")
        }
    }

    /// Letters, digits, and `-`, `.`, `_`, `:` (of domain-scoped project IDs): the characters of Google's identifiers.
    package static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._:".utf8.contains($0) }
    }

    /// `1:NUMBER:PLATFORM:HEX`, the form of a Firebase app ID.
    static func isAppID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return text.utf8.count <= 200 && parts.count == 4
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isASCIILetterOrDigit) }
            && parts[0].allSatisfy(\.isASCIIDigit) && parts[1].allSatisfy(\.isASCIIDigit)
    }
}
