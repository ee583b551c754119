internal import AssayKit

/// The methods that the kernel itself answers.
enum KernelMethods {
    /// `GET jwks`: the keys that verify tokens. It has no resource and leaves no record: answering it decides nothing.
    static let keySet = MethodDescriptor(name: "jwks", kind: .keySet, resources: [])

    /// All others.
    static let all: [KernelMethod] = [verifyAppCheckToken, mintAppCheckToken] + services + resourcePolicies
}
