internal import AssayAndroidKey
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting

extension FuzzTarget {
    /// Accepted is what can be read as the description of a key.
    func judgeAndroidDescription(_ input: [UInt8]) throws -> FuzzVerdict {
        let description: KeyDescription
        do throws(ASN1Error) {
            description = try KeyDescription(extensionValue: input[...])
        } catch {
            return .refused(error.code.rawValue)
        }
        let moved = [0x30] + input + [0xFF]
        try BrokenPromise.unless(
            (try? KeyDescription(extensionValue: moved.dropFirst().dropLast())) == description,
            "a description is the same at another place")
        let scene = try FuzzScene.shared()
        let chain = try scene.androidKey { _ in input }.chain
        let isSame: Bool
        do throws(AndroidKeyRefusal) {
            let read = try scene.androidVerifier.read(chain)
            try scene.androidVerifier.verify(read, at: FuzzScene.now)
            isSame = read.description == description
        } catch {
            throw BrokenPromise("what can be read is read in a certificate: \(error)")
        }
        try BrokenPromise.unless(isSame, "a description is the same in a certificate")
        return .accepted
    }

    /// Accepted is what the simulated authority certified.
    func judgeAndroidChain(_ input: [UInt8]) throws -> FuzzVerdict {
        var reader = DERReader(input[...])
        var certificates: [[UInt8]] = []
        while !reader.isAtEnd {
            guard certificates.count < 16, let element = try? reader.next() else { return .refused("der") }
            certificates.append(Array(element.encoded))
        }
        let scene = try FuzzScene.shared()
        let chain: AndroidChain
        do throws(AndroidKeyRefusal) {
            chain = try scene.androidVerifier.read(certificates)
            try scene.androidVerifier.verify(chain, at: FuzzScene.now)
        } catch {
            return .refused(error.reason.code)
        }
        // Whatever is accepted was signed by the device's key, so that it says what the device said.
        try BrokenPromise.unless(
            chain.description.challenge == FuzzScene.androidChallenge, "the challenge is the app's")
        try BrokenPromise.unless(chain.description.hardware.rootOfTrust?.isLocked == true, "the device is locked")
        try BrokenPromise.unless(!chain.leaf.isAuthority, "the key is no authority's")
        let again = try AndroidChain(der: certificates)
        try BrokenPromise.unless(
            again.description == chain.description && again.path.map(\.encoded) == chain.path.map(\.encoded),
            "what is remembered is what is read")
        return .accepted
    }
}
