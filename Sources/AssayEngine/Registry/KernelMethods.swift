internal import AssayKit

/// The methods that the kernel itself answers.
enum KernelMethods {
    /// `GET jwks`: the keys that verify tokens.
    static let keySet = MethodDescriptor(name: "jwks", kind: .keySet, resources: [])
}
