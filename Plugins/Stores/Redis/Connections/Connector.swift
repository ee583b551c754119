internal import AssayCore
internal import AssayCrypto
internal import NIOCore
internal import NIOSSL

/// Makes connections and verifies them: user, role, version, durability, identity of the data.
struct Connector: Sendable {
    let location: RedisLocation
    let keys: Keys
    let identity: Identity
    /// What the servers in use may forget, as far as the operator permitted it.
    let losses: LastLosses
    private let tls: NIOSSLContext?
    private let secrets: SecretSource

    init(_ location: RedisLocation, identity: Identity, secrets: SecretSource) throws(RedisStoreError) {
        self.location = location
        self.identity = identity
        self.secrets = secrets
        keys = Keys(prefix: location.prefix)
        losses = LastLosses()
        tls = try location.isSecure ? Self.context(location, secrets) : nil
    }

    var limit: TimeAmount { .nanoseconds(location.timeLimit.wholeMilliseconds * 1_000_000) }

    /// A connection whose user is known to the server, and nothing else.
    func open(_ server: ServerAddress, asSentinel: Bool = false) async throws(RedisStoreError) -> Connection {
        let connection = try await Connection.open(server, tls: tls, limit: limit)
        do throws(RedisStoreError) {
            let commands = try login(asSentinel: asSentinel)
            for reply in try await connection.ask(commands, limit: limit) {
                if case .error(let error) = reply { throw Self.refusal(error, server) }
            }
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    /// A verified connection to the server of a store without a cluster.
    func session() async throws(RedisStoreError) -> Session {
        var last = RedisStoreError(.cannotConnect, "no server is named")
        for server in try await masters() {
            do throws(RedisStoreError) {
                return try await session(server, slots: nil)
            } catch {
                last = error
            }
        }
        throw last
    }

    /// A verified connection to one server.
    ///
    /// - `slots`: those that it serves in a cluster; nil outside of one.
    func session(_ server: ServerAddress, slots: [Range<Int>]?) async throws(RedisStoreError) -> Session {
        let connection = try await open(server)
        do throws(RedisStoreError) {
            let loads = Script.allCases.map { Command("SCRIPT", "LOAD", $0.text) }
            let answers = try await connection.ask(ServerFacts.questions + loads, limit: limit)
            let facts = try ServerFacts(Array(answers.prefix(ServerFacts.questions.count)), from: "\(server)")
            let verdict = try judge(facts, "\(server)", isCluster: slots != nil)
            var digests: [[UInt8]] = []
            for answer in answers.dropFirst(ServerFacts.questions.count) {
                if case .error(let error) = answer { throw RedisStoreError(answer: error, from: "\(server)") }
                digests.append(answer.bytes ?? [])
            }
            try await checkIdentity(connection, slots, verdict.confirmation)
            return Session(connection: connection, facts: facts, digests: digests, confirmation: verdict.confirmation)
        } catch {
            connection.close()
            throw error
        }
    }

    /// Whether a connection in use would be accepted as it was; false to have it made anew.
    ///
    /// - Throws: what the server must not be used for now, as when a connection is made.
    func holds(_ session: Session, isCluster: Bool) async throws(RedisStoreError) -> Bool {
        let server = "\(session.connection.server)"
        let verdict = try judge(try await facts(session.connection), server, isCluster: isCluster)
        return verdict.confirmation == session.confirmation
    }

    /// Whether a server may be used, by what it says of itself now.
    private func judge(
        _ facts: ServerFacts, _ server: String, isCluster: Bool
    ) throws(RedisStoreError) -> DurabilityVerdict {
        guard !facts.isLoading else { throw RedisStoreError(answer: ServerError("LOADING"), from: server) }
        guard facts.isMaster else {
            throw RedisStoreError(
                .notMaster, "\(server): this server is a replica; name its master, or sentinels with #sentinel=NAME")
        }
        guard facts.isCluster == isCluster else {
            throw RedisStoreError(
                .failed, "\(server): this server has changed between cluster and no cluster; restart this program")
        }
        let verdict = DurabilityVerdict(facts, replicas: location.replicas)
        try verdict.check(location.durability, server: server)
        losses.note(verdict, facts, location, of: isCluster ? server : nil)
        return verdict
    }

    /// What a server says of itself.
    func facts(_ connection: Connection) async throws(RedisStoreError) -> ServerFacts {
        try ServerFacts(try await connection.ask(ServerFacts.questions, limit: limit), from: "\(connection.server)")
    }

    private func login(asSentinel: Bool) throws(RedisStoreError) -> [Command] {
        let user = asSentinel ? location.sentinelUser : location.user
        var commands: [Command] = []
        if let reference = asSentinel ? location.sentinelPassword : location.password {
            let secret = try Self.read(reference, secrets)
            let words = [Array("AUTH".utf8)] + (user.map { [Array($0.utf8)] } ?? []) + [secret]
            commands.append(.words(words))
        }
        if !asSentinel, location.database > 0 { commands.append(Command("SELECT", "\(location.database)")) }
        // Finds out whether a password is missing.
        return commands + [Command("PING")]
    }

    private static func refusal(_ error: ServerError, _ server: ServerAddress) -> RedisStoreError {
        // What `AUTH` says to a server without passwords, and in older servers to a wrong one.
        guard !error.text.starts(withExactly: "ERR AUTH"), !error.text.starts(withExactly: "ERR Client sent AUTH")
        else {
            return RedisStoreError(.wrongCredentials, "\(server): the server has no password set, and one was sent")
        }
        return RedisStoreError(answer: error, from: "\(server)")
    }

    private func checkIdentity(
        _ connection: Connection, _ ranges: [Range<Int>]?, _ confirmation: Confirmation
    ) async throws(RedisStoreError) {
        var slots = [0]
        if let ranges {
            // Those that are known and that this server has now; otherwise the first of them.
            slots = identity.slots.filter { slot in ranges.contains { $0.contains(slot) } }
            if slots.isEmpty { slots = ranges.first.map { [$0.lowerBound] } ?? [] }
        }
        for slot in slots.prefix(64) {
            let tag = ranges == nil ? nil : HashSlot.tags[slot]
            let known = identity.known(slot: slot)
            let fresh = known == nil ? Array(Hex.encode(Randomness.system.bytes(16)).utf8) : []
            var buffer = ByteBuffer()
            Command.script(.identify, keys: [keys.identity(tag: tag), keys.trial(tag: tag)], arguments: [fresh])
                // As text: its scripts may be forgotten between the loading and here.
                .write(to: &buffer, digests: nil)
            let confirm =
                known == nil ? confirmation.command(milliseconds: max(limit.nanoseconds / 1_000_000 - 50, 1)) : nil
            confirm?.write(to: &buffer, digests: nil)
            let replies: [RedisReply]
            do {
                replies = try await connection.exchange(buffer, count: confirm == nil ? 1 : 2, limit: limit)
            } catch {
                throw error.error
            }
            if case .error(let error)? = replies.first {
                throw RedisStoreError(answer: error, from: "\(connection.server)")
            }
            if confirm != nil, let last = replies.last, !confirmation.isMet(by: last) {
                throw RedisStoreError(
                    .notConfirmed,
                    "\(connection.server): writes are not confirmed by the disk or by \(location.replicas) replicas in time; "
                        + "check them, or lower #replicas")
            }
            try identity.check(replies.first?.bytes ?? [], slot: slot, server: "\(connection.server)")
        }
    }

    /// The servers to try: those of the URL, or the master that sentinels name.
    func masters() async throws(RedisStoreError) -> [ServerAddress] {
        guard let name = location.sentinel else { return location.servers }
        var last = RedisStoreError(.cannotConnect, "no sentinel is named")
        for server in location.servers {
            do throws(RedisStoreError) {
                let connection = try await open(server, asSentinel: true)
                defer { connection.close() }
                let reply = try await connection.ask(
                    [Command("SENTINEL", "get-master-addr-by-name", name)], limit: limit
                ).first
                if case .error(let error)? = reply { throw RedisStoreError(answer: error, from: "\(server)") }
                guard let pair = reply?.elements, pair.count == 2, let host = pair[0].text,
                    let port = pair[1].text.flatMap({ Int($0) })
                else {
                    throw RedisStoreError(
                        .notMaster, "\(server): this sentinel knows no master of the name in #sentinel")
                }
                return [ServerAddress(host: host, port: port)]
            } catch {
                last = error
            }
        }
        throw last
    }

    private static func context(
        _ location: RedisLocation, _ secrets: SecretSource
    ) throws(RedisStoreError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        do {
            if let authority = location.authority {
                configuration.trustRoots = .certificates(try certificates(authority, secrets))
            }
            if let certificate = location.certificate, let key = location.key {
                configuration.certificateChain = try certificates(certificate, secrets).map { .certificate($0) }
                configuration.privateKey = .privateKey(
                    try NIOSSLPrivateKey(bytes: try pem(key, secrets, isSecret: true), format: .pem))
            }
            return try NIOSSLContext(configuration: configuration)
        } catch let error as RedisStoreError {
            throw error
        } catch {
            throw RedisStoreError(
                .secretUnavailable,
                "`ca`, `certificate` or `key` names a file that holds no certificates or no key as PEM")
        }
    }

    private static func certificates(_ reference: SecretReference, _ secrets: SecretSource) throws
        -> [NIOSSLCertificate]
    {
        let certificates = try NIOSSLCertificate.fromPEMBytes(try pem(reference, secrets, isSecret: false))
        guard !certificates.isEmpty else {
            throw RedisStoreError(.secretUnavailable, "\(reference) holds no certificate")
        }
        return certificates
    }

    private static func pem(
        _ reference: SecretReference, _ secrets: SecretSource, isSecret: Bool
    ) throws(RedisStoreError) -> [UInt8] {
        do throws(SecretError) {
            return try secrets.pem(reference, isSecret: isSecret)
        } catch {
            throw RedisStoreError(.secretUnavailable, error.message)
        }
    }

    private static func read(_ reference: SecretReference, _ secrets: SecretSource) throws(RedisStoreError) -> [UInt8] {
        let secret: [UInt8]?
        do throws(SecretError) {
            secret = try secrets.resolve(reference)
        } catch {
            throw RedisStoreError(.secretUnavailable, error.message)
        }
        guard let secret, !secret.isEmpty else {
            throw RedisStoreError(.secretUnavailable, "\(reference) has no value")
        }
        return secret
    }
}
