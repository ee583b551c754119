package import AssayCore

/// The resource of the App Check API with an app's settings of a provider, such as `appAttestConfig`.
///
/// The kernel serves its methods `get`, `batchGet` and `patch`, with the name and the token lifetime; a provider adds
/// further fields. Settings come from policy files, so `patch` changes nothing.
package struct ConfigResource<Provider: AttestationProvider>: Sendable {
    /// The last part of the resource's name: `appAttestConfig`.
    package let name: String
    /// The settings of an app without the provider.
    package let standard: JSON
    /// An instance's fields in addition to the kernel's.
    package let fields: @Sendable (Provider) -> [ReplyField]
}
