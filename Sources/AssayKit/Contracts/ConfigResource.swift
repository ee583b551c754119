internal import AssayCore

/// The resource that the App Check API shows an app's settings of a provider as, such as `appAttestConfig`.
///
/// The kernel serves its methods `get`, `batchGet` and `patch`, with the name and the token lifetime; a provider adds
/// further fields. Settings come from policy files, so `patch` changes nothing.
package struct ConfigResource<Provider: AttestationProvider>: Sendable {
    /// The last part of the resource's name: `appAttestConfig`.
    package let name: String
    /// What an instance shows beside the kernel's fields.
    package let fields: @Sendable (Provider) -> [ReplyField]
}
