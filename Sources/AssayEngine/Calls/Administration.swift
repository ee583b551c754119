package import AssayCore

/// The methods of administrators, which a ``Registry`` gets as it gets plugins; `AssayServices` has them.
public struct Administration: Sendable {
    let methods: [KernelMethod]
    let settings: @Sendable (_ provider: String, _ resource: String, _ standard: JSON) -> [KernelMethod]

    /// - Parameters:
    ///   - methods: those of projects.
    ///   - settings: makes those of the resource that shows an app's settings for one provider, by the last part of its name and by
    ///     what it says of an app without the provider.
    package init(
        _ methods: [KernelMethod],
        settings: @escaping @Sendable (_ provider: String, _ resource: String, _ standard: JSON) -> [KernelMethod]
    ) {
        self.methods = methods
        self.settings = settings
    }
}
