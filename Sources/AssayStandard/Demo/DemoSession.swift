#if Simulator
internal import AssayVerifier

/// What the steps that prove the app leave for the others.
struct DemoSession {
    let keyID: String
    let artifact: [UInt8]
    let challenge: [UInt8]
    let token: String
    let verifier: TokenVerifier
}
#endif
