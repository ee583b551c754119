internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The methods of `projects/*/apps/*/debugTokens`.
extension DebugProvider {
    func create(_ request: CreateDebugTokenRequest, _ context: ProviderContext) async throws -> CallAnswer {
        guard let managed else {
            throw CallFailure(
                .failedPrecondition,
                "The app's policy does not let administrators register debug tokens: add `managed` to the section `debug`"
                    + "\(DebugProvider.at(place)).")
        }
        if let expires = request.expires, expires <= context.now {
            throw InvalidRequest("the field 'expireTime' must be in the future")
        }
        let hash = DebugToken.hash(of: request.token)
        if let listed = listed.token(hash: hash) {
            throw CallFailure(
                .alreadyExists, "The debug token is already in a policy file\(DebugProvider.at(listed.place)).")
        }
        let token = ManagedToken(
            id: UUID4.text(randomness), displayName: request.displayName, hash: hash, expires: request.expires,
            updated: context.now)
        try await managed.add(token, context)
        return answer(token.view, context)
    }

    func list(_ request: ListDebugTokensRequest, _ context: ProviderContext) async throws -> JSON {
        let after = try request.after(context.sealer)
        let tokens = (listed.views + (try await managed?.read(context).views ?? [])).sorted {
            $0.id.precedesExactly($1.id)
        }
        let rest = tokens.drop { token in after.map { !$0.precedesExactly(token.id) } ?? false }
        let page = rest.prefix(request.size)
        guard let last = page.last else { return [:] }
        var members = [JSONMember("debugTokens", .array(page.map { $0.message(of: context.app) }))]
        if rest.count > page.count {
            let token = try ListDebugTokensRequest.pageToken(after: last.id, context.sealer)
            members.append(JSONMember("nextPageToken", .string(token)))
        }
        return .object(members)
    }

    func get(_ request: GetDebugTokenRequest, _ context: ProviderContext) async throws -> JSON {
        if let listed = listed.token(id: request.id) { return listed.view.message(of: context.app) }
        guard let token = try await managed?.read(context).token(id: request.id) else {
            throw DebugProvider.notFound
        }
        return token.view.message(of: context.app)
    }

    func update(_ request: UpdateDebugTokenRequest, _ context: ProviderContext) async throws -> CallAnswer {
        // As with every setting in a policy file, an update that changes nothing succeeds.
        if let listed = listed.token(id: request.id), listed.view.displayName.isExactly(request.displayName) {
            try ETag.check(request.etag, is: listed.view.etag(of: context.app))
            return answer(listed.view, context)
        }
        let token = try await change(request.id, request.etag, context) { tokens, token in
            guard !token.displayName.isExactly(request.displayName) else { return }
            token.displayName = request.displayName
            token.updated = context.now
            tokens.put(token)
        }
        return answer(token.view, context)
    }

    func delete(_ request: DeleteDebugTokenRequest, _ context: ProviderContext) async throws -> CallAnswer {
        let token = try await change(request.id, request.etag, context) { tokens, token in tokens.remove(token) }
        await managed?.forget(token, context)
        return CallAnswer([:], facts: token.view.facts)
    }

    /// Changes a registered token that is what the caller holds it to be, and returns it as it is then.
    private func change(
        _ id: String, _ etag: String?, _ context: ProviderContext,
        _ body: (inout ManagedTokens, inout ManagedToken) -> Void
    ) async throws -> ManagedToken {
        if let listed = listed.token(id: id) {
            throw CallFailure(
                .failedPrecondition,
                "The debug token comes from a policy file: change it there\(DebugProvider.at(listed.place)).")
        }
        guard let managed else { throw DebugProvider.notFound }
        return try await managed.update(context) { tokens in
            guard var token = tokens.token(id: id) else { throw DebugProvider.notFound }
            try ETag.check(etag, is: token.view.etag(of: context.app))
            body(&tokens, &token)
            return token
        }
    }

    private func answer(_ token: DebugTokenView, _ context: ProviderContext) -> CallAnswer {
        CallAnswer(token.message(of: context.app), facts: token.facts)
    }

    private static let notFound = CallFailure(.notFound, "Requested entity was not found.")

    private static func at(_ place: String?) -> String {
        place.map { ", at \($0)" } ?? ""
    }
}

/// Bounds how many unknown debug tokens are looked up in the state store.
///
/// An address (IPv6: a /64) may try a few, and then one every 10 seconds. When too many come for an app from all
/// addresses together, each address has only one. So an address that sent no unknown token is never locked out by
/// others.
final class GuessLimit: Sendable {
    private static let burst = 10
    private static let interval = Duration.seconds(10)
    private static let appBurst = 100
    private static let appInterval = Duration.milliseconds(500)

    private let peers = KeyedRate<FloodSource>(every: interval, burst: burst, capacity: 4096)
    private let app = KeyedRate<Int>(every: appInterval, burst: appBurst, capacity: 1)

    /// How long a peer must wait before it may present an unknown token; nil when it need not wait.
    ///
    /// - Parameter peer: nil for a call in this process, which is not limited.
    func wait(_ peer: String?, at uptime: Duration) -> Duration? {
        guard let source = peer.map({ FloodSource($0) }) else { return nil }
        if let wait = peers.wait(source, at: uptime) { return wait }
        guard let wait = app.wait(0, at: uptime), peers.isOwing(source, at: uptime) else { return nil }
        return max(wait, .seconds(1))
    }

    /// Counts an unknown token.
    func count(_ peer: String?, at uptime: Duration) {
        guard let source = peer.map({ FloodSource($0) }) else { return }
        _ = peers.take(source, at: uptime)
        _ = app.take(0, at: uptime)
    }
}
