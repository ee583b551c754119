public import AssayCore
public import AssayKit
internal import Logging

extension ProviderContext {
    /// A context for a test that calls a provider's own functions; in an engine, the kernel makes it.
    ///
    /// - Parameters:
    ///   - challenge: the challenge that the kernel would have redeemed.
    ///   - caller: the policy's name for a caller with a permission.
    ///   - timeLeft: how long the client waits.
    ///   - wasVerified: whether evidence of the peer was verified recently.
    ///   - stateBegan: since when the state is complete; it always was, if it is not given.
    public static func testing(
        _ app: AppIdentity, store: any StateStore, clock: HostClock, challenge: [UInt8]? = nil,
        peer: String? = nil, caller: String? = nil, timeLeft: Duration = .seconds(5), wasVerified: Bool = false,
        stateBegan: Instant = Instant(milliseconds: .min)
    ) -> ProviderContext {
        ProviderContext(
            decision: DecisionID(text: "TEST"), app: app, challenge: challenge, deadline: clock.now + timeLeft,
            peer: peer, caller: caller, now: clock.now, state: StateSpace("test", in: store, since: stateBegan),
            pluginState: StateSpace("plugin", in: store, since: stateBegan),
            sealer: Sealer(seal: { $0.reversed() }, open: { $0.reversed() }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
            wasVerified: { _ in wasVerified })
    }
}

extension ConsumerContext {
    /// A context for a test that calls a consumer's own functions; in an engine, the kernel makes it.
    ///
    /// - Parameters:
    ///   - token: the token that the kernel would have verified.
    ///   - app: the app that the token is of.
    ///   - timeLeft: how long the client waits.
    ///   - stateBegan: since when the state is complete; it always was, if it is not given.
    public static func testing(
        _ project: ProjectIdentity, store: any StateStore, clock: HostClock, token: VerifiedToken? = nil,
        app: AppIdentity? = nil, actor: VerifiedActor? = nil, peer: String? = nil, timeLeft: Duration = .seconds(5),
        tokens: any ConsumerTokens = NoTokens(), stateBegan: Instant = Instant(milliseconds: .min)
    ) -> ConsumerContext {
        ConsumerContext(
            decision: DecisionID(text: "TEST"), project: project, token: token, app: app, actor: actor,
            deadline: clock.now + timeLeft, peer: peer, now: clock.now,
            state: StateSpace("test", in: store, since: stateBegan),
            pluginState: StateSpace("plugin", in: store, since: stateBegan), tokens: tokens,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    }
}
