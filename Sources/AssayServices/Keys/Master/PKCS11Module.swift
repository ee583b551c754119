internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import CPKCS11
internal import Synchronization

/// A module of PKCS #11 in this process: loaded and started once, and never unloaded, which some modules do not survive.
///
/// Its calls may block, so they are made on a thread of their own, one after another.
// Unchecked: the list of functions never changes, and the module was started with locks of its own.
final class PKCS11Module: @unchecked Sendable {
    /// How long a call may take.
    static let timeLimit = Duration.seconds(20)
    private static let slotLimit = 64

    private static let loaded = Mutex<[ExactText: PKCS11Module]>([:])
    /// Held on threads of their own while a module is loaded, which may block.
    private static let loading = Mutex(())

    private let functions: UnsafePointer<assay_p11_module>
    private let thread = WorkerThreads(count: 1, waiting: 64)
    /// Digests of PINs that a token has refused: to try one again and again would lock the token.
    private let refusedPINs = Mutex<Set<[UInt8]>>([])

    private init(_ functions: UnsafePointer<assay_p11_module>) {
        self.functions = functions
    }

    /// Does work with the module at a path.
    ///
    /// - Throws: also when it takes longer than ``timeLimit``; its thread then continues alone.
    static func run<Value: Sendable>(
        _ path: String, clock: HostClock, _ work: @escaping @Sendable (PKCS11Module) throws(KeyVaultError) -> Value
    ) async throws(KeyVaultError) -> Value {
        let starting = WorkerThreads(count: 1, waiting: 1)
        let module: PKCS11Module
        if let known = loaded.withLock({ $0[ExactText(path)] }) {
            module = known
        } else {
            module = try await answer(on: starting, clock: clock) { () throws(KeyVaultError) in try load(path) }
        }
        return try await answer(on: module.thread, clock: clock) { () throws(KeyVaultError) in try work(module) }
    }

    private static func answer<Value: Sendable>(
        on thread: WorkerThreads, clock: HostClock, _ work: @escaping @Sendable () throws(KeyVaultError) -> Value
    ) async throws(KeyVaultError) -> Value {
        let answer = FirstResult<Value>()
        let isStarted = thread.start {
            // The caller may have given up while another call did not end.
            guard answer.present == nil else { return }
            do throws(KeyVaultError) {
                answer.settle(.success(try work()))
            } catch {
                answer.settle(.failure(error))
            }
        }
        guard isStarted else { throw KeyVaultError("the PKCS #11 module answers no more") }
        let timer = Task {
            guard (try? await clock.sleep(for: timeLimit)) != nil else { return }
            let seconds = timeLimit.wholeSeconds
            answer.settle(.failure(KeyVaultError("the PKCS #11 module did not answer within \(seconds) s")))
        }
        defer { timer.cancel() }
        do {
            return try await answer.value
        } catch let error as KeyVaultError {
            throw error
        } catch {
            throw KeyVaultError("the PKCS #11 module: \(SafeText.of("\(error)"))")
        }
    }

    private static func load(_ path: String) throws(KeyVaultError) -> PKCS11Module {
        try loading.withLock { (_) throws(KeyVaultError) -> PKCS11Module in
            if let known = loaded.withLock({ $0[ExactText(path)] }) { return known }
            var reason: UnsafePointer<CChar>?
            guard let functions = assay_p11_load(path, &reason) else {
                let text = reason.map { String(cString: $0) } ?? "unknown reason"
                throw KeyVaultError("the PKCS #11 module \(SafeText.of(path)) cannot be loaded: \(SafeText.of(text))")
            }
            // CKR_CRYPTOKI_ALREADY_INITIALIZED: by another part of this process.
            try check(assay_p11_initialize(functions), "start", allowing: 0x191)
            let module = PKCS11Module(functions)
            loaded.withLock { $0[ExactText(path)] = module }
            return module
        }
    }

    // MARK: - Work

    /// Logs in to the token that a URI names, does work in a session, and closes it.
    func withSession<Value>(
        _ uri: PKCS11URI, pin: SecretBytes?, writes: Bool = false,
        _ work: (PKCS11Session) throws(KeyVaultError) -> Value
    ) throws(KeyVaultError) -> Value {
        let (slot, needsLogin) = try self.slot(of: uri)
        var number: assay_p11_number = 0
        try Self.check(assay_p11_open_session(functions, slot, writes ? 1 : 0, &number), "open a session with")
        // The last session that is closed logs out.
        defer { _ = assay_p11_close_session(functions, number) }
        if needsLogin {
            try logIn(number, slot: slot, pin: pin)
        }
        return try work(PKCS11Session(functions: functions, number: number, uri: uri))
    }

    private func logIn(
        _ session: assay_p11_number, slot: assay_p11_number, pin: SecretBytes?
    ) throws(KeyVaultError) {
        guard let pin else {
            // The token asks for the PIN by itself, or does not: CKR_ARGUMENTS_BAD.
            let result = assay_p11_login(functions, session, nil, 0)
            guard result != 7 else {
                throw KeyVaultError("cannot log in to the token: it expects a PIN, by pin-source=file:PATH or env:NAME")
            }
            // CKR_USER_ALREADY_LOGGED_IN
            return try Self.check(result, "log in to", allowing: 0x100)
        }
        var input = UInt64(slot).bigEndianBytes + pin.withUnsafeBytes { Array($0) }
        defer { SecretBytes.wipe(&input) }
        let digest = SHA256.hash(input)
        guard !refusedPINs.withLock({ $0.contains(digest) }) else {
            throw KeyVaultError("cannot log in to the token: it has refused this PIN, which is not tried again")
        }
        let result = pin.withUnsafeBytes {
            assay_p11_login(functions, session, $0.baseAddress, assay_p11_number($0.count))
        }
        // CKR_PIN_INCORRECT
        if result == 0xA0 { refusedPINs.withLock { _ = $0.insert(digest) } }
        try Self.check(result, "log in to", allowing: 0x100)
    }

    private func slot(of uri: PKCS11URI) throws(KeyVaultError) -> (slot: assay_p11_number, needsLogin: Bool) {
        var slots = [assay_p11_number](repeating: 0, count: Self.slotLimit)
        var count = assay_p11_number(slots.count)
        try Self.check(assay_p11_slots(functions, &slots, &count), "list the slots of")
        var found: [(assay_p11_number, Bool)] = []
        for slot in slots.prefix(Int(clamping: count)) {
            var token = assay_p11_token()
            guard assay_p11_token_info(functions, slot, &token) == 0 else { continue }
            // CKF_TOKEN_INITIALIZED, CKF_LOGIN_REQUIRED
            guard token.flags & 0x400 != 0, uri.names(token) else { continue }
            found.append((slot, token.flags & 4 != 0))
        }
        guard let first = found.first else { throw KeyVaultError("\(uri): there is no such token") }
        guard found.count == 1 else {
            throw KeyVaultError("\(uri): there are \(found.count) such tokens: add serial=…")
        }
        return first
    }

    /// - Parameter action: as in `cannot ACTION the token`.
    static func check(
        _ result: assay_p11_number, _ action: String, allowing allowed: assay_p11_number = 0
    ) throws(KeyVaultError) {
        guard result != 0, result != allowed else { return }
        let reason = PKCS11Result.words(UInt64(result)).map { ": \($0)" } ?? ""
        throw KeyVaultError("cannot \(action) the token\(reason) (PKCS #11 error 0x\(hex(UInt64(result))))")
    }

    private static func hex(_ number: UInt64) -> String {
        String(number, radix: 16)
    }
}

extension PKCS11URI {
    /// Whether a token has all attributes of the URI.
    fileprivate func names(_ information: assay_p11_token) -> Bool {
        withUnsafeBytes(of: information) { bytes in
            func has(_ wanted: String?, at offset: Int, _ count: Int) -> Bool {
                guard let wanted else { return true }
                let field = bytes[offset..<offset + count]
                let text = field.reversed().drop { $0 == UInt8(ascii: " ") || $0 == 0 }.reversed()
                return text.elementsEqual(wanted.utf8)
            }
            return has(token, at: 0, 32) && has(manufacturer, at: 32, 32) && has(model, at: 64, 16)
                && has(serial, at: 80, 16)
        }
    }
}

/// The results of calls that operators can do something about.
private enum PKCS11Result {
    static func words(_ result: UInt64) -> String? {
        switch result {
        case 0x30: "the device failed"
        case 0x31: "the device has no memory left"
        case 0x32: "the device was removed"
        case 0x40, 0x41: "what it should decrypt was encrypted by another key"
        case 0x63: "the key is of another type"
        case 0x68: "the key may not be used for this"
        case 0x70, 0x71: "it does not have AES-GCM"
        case 0xA0: "the PIN is wrong"
        case 0xA1, 0xA2: "the PIN is malformed"
        case 0xA4: "the PIN is locked"
        case 0xE0: "it was removed"
        case 0xE2: "it is write-protected"
        case 0x101: "it expects a PIN: add pin-source=file:PATH"
        default: nil
        }
    }
}
