internal import AssayCore
internal import AssayKit

extension KernelMethods {
    /// `POST {resource=projects/*/apps/*}:mintAppCheckToken`: issues a token for an app to a caller that the policy
    /// trusts.
    ///
    /// The projects in the caller's entry in `callers` limit the apps.
    static let mintAppCheckToken = KernelMethod(
        {
            var descriptor = MethodDescriptor(
                name: "mintAppCheckToken", kind: .call(.mintTokens), resources: [.app]
            ).with(request: KernelShapes.minting, reply: KernelShapes.token)
            descriptor.takesTokenID = true
            return descriptor
        }(),
        answer: { call in
            let app = try call.app()
            let lifetime = try call.fields.duration("tokenTtl").map { (asked) throws(InvalidRequest) in
                guard let lifetime = TokenLifetime.asked(asked) else {
                    throw InvalidRequest("the field 'tokenTtl' must be from 1800s to 604800s")
                }
                return lifetime
            }
            let limitedUse = try call.fields.message("limitedUseConfig")
            guard lifetime == nil || limitedUse == nil else {
                throw InvalidRequest("a token has either the field 'tokenTtl' or 'limitedUseConfig', not both")
            }
            let id = try limitedUse.flatMap { (fields) throws(InvalidRequest) in
                try RequestedTokenID.read(fields, limitedUse: true)
            }
            let token = try call.scope.issuer.issue(
                app.claims, provider: MintedTokens.provider, isForDevelopment: false,
                lifetime: lifetime ?? MintedTokens.defaultLifetime,
                limitedUse: limitedUse != nil,
                id: id.map { ChosenTokenID($0, by: call.caller?.name ?? "", through: MintedTokens.provider) },
                state: call.scope.stateMark, now: call.now, randomness: call.host.randomness)
            // Unlike other messages with a token, this one has no older field name in v1beta.
            var outcome = CallOutcome.reply(
                token.message(.v1),
                .issued(tokenID: token.id, limitedUse: limitedUse != nil, expires: token.expires))
            outcome.provider = MintedTokens.provider
            return outcome
        })
}
