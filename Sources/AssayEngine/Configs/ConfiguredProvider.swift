internal import AssayKit
internal import AssayYAML

/// What a policy says of one provider for one app, as far as others than the provider may know.
struct ConfiguredProvider: Sendable {
    let tokenLifetime: Duration
    /// What the resource of its settings shows beside the kernel's fields.
    let fields: [ReplyField]
    /// Where the policy says so.
    let location: SourceLocation
}
