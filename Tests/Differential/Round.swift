import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
@testable import AssayPolicyTools

/// One set of policies, changes of it, and some requests, which servers under the old and the new policies answer.
struct Round {
    var values: RandomValues
    var tally: Tally
    private var policies: (before: RandomPolicies, after: RandomPolicies)
    /// The files of the servers.
    private(set) var before: String
    private(set) var after: String
    /// A planted fault: a key that the servers see, and the tools do not; nil for none.
    let unseen: String?
    private(set) var tools: Tools
    /// The policies that the servers have.
    private(set) var served: (old: PolicySet, new: PolicySet)
    let old: World
    /// Nil with a planted fault, when nothing changes.
    let new: World?
    let clock = ManualClock()
    /// Tokens that the old server has issued, the last ones last.
    private(set) var tokens: [Request.Token] = []
    /// The services whose levels administrators have set: `projects/NUMBER/NAME`.
    var edited: Set<String> = []
    /// Whether administrators have added entries to the deny lists of the servers.
    var hasServerDenials = false
    /// Whether administrators could change the state of one server only.
    var haveStatesDiverged = false
    /// Decisions about evidence, as both servers made them.
    var decided: [Decided] = []

    /// A decision about evidence.
    struct Decided {
        let line: [UInt8]
        let decision: RecordedDecision
        /// Nil where nothing changes.
        let other: RecordedDecision?
    }

    /// Policies that cannot be used.
    struct Refused: Error {
        let tally: Tally
    }

    /// - Throws: ``Refused`` for policies that are refused, with the tally.
    init(_ values: RandomValues, _ tally: Tally, unseen: String? = nil) throws(Refused) {
        var (values, tally) = (values, tally)
        let first = RandomPolicies(&values)
        var second = first
        for _ in 0..<(unseen == nil ? Int.random(in: 1...4, using: &values.random) : 0) { second.change(&values) }
        (policies, before, after) = ((first, second), first.text, second.text)
        tally.policies += 1
        do {
            tools = try Self.tools(policies, (before, after), unseen, &values)
            served = (World.policies(before), World.policies(after))
            let keys = KeyStore.pooled()
            old = try World(served.old, keys: keys, clock: clock)
            new = unseen == nil ? try World(served.new, keys: keys, clock: clock) : nil
        } catch {
            tally.refuse(error)
            throw Refused(tally: tally)
        }
        (self.values, self.tally, self.unseen) = (values, tally, unseen)
    }

    private static func tools(
        _ policies: (before: RandomPolicies, after: RandomPolicies), _ texts: (String, String), _ unseen: String?,
        _ values: inout RandomValues
    ) throws -> Tools {
        guard let unseen else { return try Tools(texts.0, texts.1) }
        let text = policies.before.without(unseen, &values).text
        return try Tools(text, text)
    }

    /// Asks and compares; with a second change in the middle, while the servers run.
    mutating func run() async throws {
        // The states begin before any token is issued.
        for world in [old, new].compactMap(\.self) {
            _ = await world.answer(Request(Call("exchangeNote", resource: "projects/1")))
        }
        clock.advance(by: .seconds(600))
        try await runRequests()
        guard let new, changePolicies(of: new) else { return }
        decided = []
        try await runRequests()
    }

    private mutating func runRequests() async throws {
        for _ in 0..<12 {
            // One is enough to find a planted fault.
            guard tally.disagreements.isEmpty else { return }
            let app = values.random.pick(served.old.apps)
            let request = evidence(of: app)
            let reply = await ask(request)
            keep(reply, request, app)
            if values.random.happens(onceIn: 6) { clock.advance(by: .seconds(120)) }
            let next = self.request(about: app)
            let answer = await ask(next)
            keep(answer, next, app)
            show(next.token)
            if next.proxied != nil, next.token != nil, values.random.happens(onceIn: 3) {
                var again = next
                again.token?.wasShown = true
                _ = await ask(again)
            }
        }
        try await compareTests()
    }

    /// Changes the policies of both servers; false if they are refused.
    private mutating func changePolicies(of new: World) -> Bool {
        var policies = policies
        if values.random.happens(onceIn: 2) { policies.before.change(&values) }
        policies.after.change(&values)
        if values.random.happens(onceIn: 2), let id = tokens.last.flatMap({ Self.claims($0.text)?["jti"] }) {
            policies.after.deny(["jti": id])
            if values.random.happens(onceIn: 2) { policies.before.deny(["jti": id]) }
        }
        do {
            let texts = (policies.before.text, policies.after.text)
            let tools = try Self.tools(policies, texts, unseen, &values)
            let served = (old: World.policies(texts.0), new: World.policies(texts.1))
            try old.replace(served.old)
            try new.replace(served.new)
            (self.tools, self.served, self.policies, before, after) = (tools, served, policies, texts.0, texts.1)
            return true
        } catch {
            tally.refuse(error)
            return false
        }
    }

    /// Keeps a token for later requests.
    private mutating func keep(_ reply: JSON?, _ request: Request, _ app: AppPolicy) {
        guard let text = reply?["token"]?.string, let call = request.call, let claims = Self.claims(text) else {
            return
        }
        tokens.append(
            Request.Token(
                text: text, app: claims["sub"]?.string ?? "", resource: app.identity.resource,
                provider: claims["provider"]?.string ?? "", isLimitedUse: call.body["limitedUse"]?.bool ?? false))
        if tokens.count > 4 { tokens.removeFirst() }
    }

    /// Notes that a token was shown.
    private mutating func show(_ token: Request.Token?) {
        guard let index = tokens.firstIndex(where: { $0.text == token?.text }) else { return }
        tokens[index].wasShown = true
    }

    /// The claims of a token.
    static func claims(_ token: String) -> JSON? {
        let parts = token.split(separator: ".")
        return parts.count == 3 ? Base64.decode(String(parts[1])).flatMap { try? JSON.parse($0) } : nil
    }
}
