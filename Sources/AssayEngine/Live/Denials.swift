internal import AssayCore
package import AssayKit
package import AssayPolicy
internal import AssayYAML
internal import Logging

extension LiveDocument<DenyList> {
    /// The entries of the deny list in the state store.
    ///
    /// - Parameters:
    ///   - facts: the facts of each provider of the program.
    ///   - publish: gets the list after each reading.
    static func denials(
        _ host: PluginHost, facts: [ExactText: [FactName]], publish: @escaping @Sendable (Known) -> Void
    ) -> Self {
        let (document, logger) = (StoredDenials.document(in: host.store), host.logger)
        return Self("the deny list", document, host, publish: publish) { bytes in
            let entries = try StoredDenials(decoding: bytes, of: document).entries
            guard !entries.isEmpty else { return DenyList() }
            let list = DenyList(entries, facts: facts)
            if let caution = list.caution {
                if list.unreadablePlaces.isEmpty { logger.warning("\(caution)") } else { logger.error("\(caution)") }
            }
            return list
        }
    }
}

extension DenyList {
    /// The list of the entries of a store.
    ///
    /// An entry whose content cannot be read blocks what it may be about: see ``unreadable(aboutEvidence:of:at:)``.
    ///
    /// - Parameter facts: the facts of each provider of the program.
    init(_ entries: [StoredDenials.Entry], facts: [ExactText: [FactName]]) {
        var policies: [DenyPolicy] = []
        var unreadable: [StoredDenials.Entry] = []
        for entry in entries {
            do throws(Diagnostics) {
                policies.append(try entry.policy())
            } catch {
                unreadable.append(entry)
            }
        }
        // A program with fewer plugins does not know the facts of all entries; it takes neither evidence nor tokens of such
        // providers.
        self.init(policies, facts: facts, isWhole: false, problems: DiagnosticSink())
        for entry in unreadable {
            let isAboutTokens = entry.match.members.map { $0.count == 1 && $0[0].name.isExactly("jti") } ?? false
            add(
                unreadable: entry.name, note: entry.note?.string, app: entry.app?.string,
                project: entry.project.string, until: entry.until, isAboutEvidence: !isAboutTokens)
        }
    }

    /// What operators should know of entries that cannot be judged; nil when there are none.
    var caution: String? {
        let places = unreadablePlaces
        if let first = places.first {
            return
                "the deny list has \(places.count) entries that cannot be read, which blocks the apps that they are about: "
                + "delete or replace them; the first is \(SafeText.of(first.string))"
        }
        return foreign.first.map { first in
            "the deny list has \(foreign.count) entries about facts that no provider of this program tells: they refuse "
                + "nothing here; the first is \(SafeText.of(first.string))"
        }
    }
}

/// The deny lists that a request is judged by: that of the policies, and that of the state store.
package struct Denials: Sendable {
    /// Why what an entry of the server refused cannot be judged by policies alone.
    package static let notInFiles = "the server's own deny list refused the evidence, and it is not in the policy files"

    private let lists: [(source: DenialSource, list: DenyList)]

    /// - Parameters:
    ///   - policies: the entries of the policies, which are asked first.
    ///   - server: the entries that administrators added; none where files are judged.
    package init(policies: DenyList, server: DenyList = DenyList()) {
        let all: [(source: DenialSource, list: DenyList)] = [(.policies, policies), (.server, server)]
        lists = all.filter { !$0.list.isEmpty }
    }

    /// Whether entries name attesters, so that the tags of tokens matter.
    var namesAttesters: Bool { lists.contains { $0.list.namesAttesters } }

    /// Why an app's evidence, or its tokens, cannot be judged; nil when they can.
    func obstacle(aboutEvidence: Bool, of app: AppIdentity, at now: Instant) -> String? {
        let found = first { $0.unreadable(aboutEvidence: aboutEvidence, of: app, at: now) }
        return found.map { "an entry of the deny list cannot be read: \(SafeText.of($0.denial.place))" }
    }

    /// The first entry that a list answers with, and where it is.
    package func first(_ ask: (DenyList) -> Denial?) -> (denial: Denial, source: DenialSource)? {
        for (source, list) in lists {
            if let denial = ask(list) { return (denial, source) }
        }
        return nil
    }
}
