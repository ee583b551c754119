import Testing

@testable import AssayRedis

/// The errors of Redis 6.2, 7.0, 7.4, 8.0 and of Valkey 7.2, 8.1, in their words.
@Suite struct ServerErrorTests {
    private static let digest = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"

    /// The ways in which servers wrap what a command of a script refuses.
    private static let wrappings: [@Sendable (String) -> String] = [
        { $0 }, { "-\($0)" },
        // Redis 6.2: raised by the command itself, and by a check before it.
        { "ERR Error running script (call to f_\(digest)): @user_script:7: -\($0)" },
        { "ERR Error running script (call to f_\(digest)): @user_script:7: @user_script: 7: -\($0)" },
        { "ERR Error running script (call to f_\(digest)): @user_script:12: @user_script: 12: \($0)" },
        // Redis 7 and 8, Valkey.
        { "\($0) script: \(digest), on @user_script:7." },
        { "-\($0) script: \(digest), on @user_script:7." },
        { "\($0) script: f_\(digest), on @user_script:7." },
    ]

    private static let words: [(String, ServerError.Kind, RedisStoreError.Code, endsConnection: Bool)] = [
        ("READONLY You can't write against a read only replica.", .readOnly, .readOnly, true),
        ("READONLY You can't write against a read only slave.", .readOnly, .readOnly, true),
        ("READONLY Can not run script with write flag on readonly replica.", .readOnly, .readOnly, true),
        (
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", .masterDown, .readOnly,
            true
        ),
        ("NOREPLICAS Not enough good replicas to write.", .noReplicas, .readOnly, true),
        (
            "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)", .unblocked,
            .readOnly, true
        ),
        (
            "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
                + "configured to be writable (which is not the default) writes to replicas are just local and are not propagated.",
            .readOnly, .readOnly, true
        ),
        (
            "ERR WAITAOF cannot be used with replica instances. Please also note that writes …", .readOnly, .readOnly,
            true
        ),
        ("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.", .notDurable, .mayForget, true),
        ("LOADING Redis is loading the dataset in memory", .loading, .loading, true),
        ("LOADING Valkey is loading the dataset in memory", .loading, .loading, true),
        ("NOAUTH Authentication required.", .passwordNeeded, .wrongCredentials, true),
        (
            "WRONGPASS invalid username-password pair or user is disabled.", .wrongPassword, .wrongCredentials, true
        ),
        (
            "DENIED Redis is running in protected mode because protected mode is enabled", .isProtected,
            .wrongCredentials, true
        ),
        ("OOM command not allowed when used memory > 'maxmemory'.", .outOfMemory, .outOfMemory, false),
        (
            "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'", .outOfMemory,
            .outOfMemory, false
        ),
        (
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            .diskFailed, .diskFailed, false
        ),
        (
            "MISCONF Valkey is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            .diskFailed, .diskFailed, false
        ),
        ("MISCONF Errors writing to the AOF file: No space left on device", .diskFailed, .diskFailed, false),
        ("CLUSTERDOWN The cluster is down", .clusterDown, .clusterDown, false),
        ("CLUSTERDOWN Hash slot not served", .clusterDown, .clusterDown, false),
        ("CLUSTERDOWN The cluster is down and only accepts read commands", .clusterDown, .clusterDown, false),
        ("TRYAGAIN Multiple keys request during rehashing of slot", .tryAgain, .clusterDown, false),
        ("CROSSSLOT Keys in request don't hash to the same slot", .crossSlot, .failed, false),
        ("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", .busy, .busy, false),
        (
            "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", .busy, .busy,
            false
        ),
        (
            "UNKILLABLE Sorry the script already executed write commands against the dataset.", .unkillable, .busy,
            false
        ),
        ("NOSCRIPT No matching script. Please use EVAL.", .noScript, .failed, false),
        ("NOSCRIPT No matching script.", .noScript, .failed, false),
        ("NOPERM this user has no permissions to run the 'set' command", .notPermitted, .notPermitted, false),
        (
            "NOPERM this user has no permissions to access one of the keys used as arguments", .notPermitted,
            .notPermitted, false
        ),
        ("ERR The user executing the script can't run this command or subcommand", .notPermitted, .notPermitted, false),
        (
            "The user executing the script can't access at least one of the keys mentioned in the command arguments",
            .notPermitted, .notPermitted, false
        ),
        ("MOVED 3999 127.0.0.1:6381", .moved, .clusterDown, false),
        ("ASK 3999 127.0.0.1:6381", .ask, .clusterDown, false),
        ("ERR max number of clients reached", .tooManyClients, .cannotConnect, false),
        ("ERR max number of clients + cluster connections reached", .tooManyClients, .cannotConnect, false),
        ("ERR unknown command `EVALSHA`, with args beginning with: ", .unknownCommand, .unsupportedServer, false),
        ("ERR unknown command 'EVALSHA', with args beginning with: ", .unknownCommand, .unsupportedServer, false),
        ("ERR Unknown Redis command called from Lua script", .unknownCommand, .unsupportedServer, false),
        ("ASSAYREPLACED the identity of the data is another one", .replaced, .replaced, true),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", .other, .failed, false),
        ("ERR syntax error", .other, .failed, false), ("", .other, .failed, false), ("-", .other, .failed, false),
    ]

    @Test("an error is found by what it is, in every form in which servers wrap it", arguments: words.indices)
    func forms(_ index: Int) {
        let (text, kind, code, endsConnection) = Self.words[index]
        for (number, wrap) in Self.wrappings.enumerated() {
            let wrapped = wrap(text)
            let error = ServerError(wrapped)
            #expect(error.kind == kind, "\(number): \(wrapped)")
            let meaning = RedisStoreError(answer: error, from: "s")
            #expect(meaning.code == code)
            #expect(meaning.endsConnection == endsConnection)
            // What ends a connection ends without a person's work, so that it must not count as failed work.
            if endsConnection || code == .clusterDown || code == .busy { #expect(meaning.isOutage) }
        }
    }

    @Test("every kind of error has a text in the table above")
    func allKinds() {
        #expect(Set(Self.words.map(\.1)) == Set(ServerError.Kind.allCases))
    }

    @Test("a word within a text is not taken for the error's own")
    func wordsWithin() {
        for text in [
            "ERR READONLY", "WRONGTYPE READONLY", "ERR Error running script (call to f_1): @user_script:1: x READONLY",
            "READONLYX y", "readonly You can't write", "ERR Error running script (call to f_1", "@user_script:",
            "@user_script:7",
        ] {
            #expect(ServerError(text).kind == .other, "\(text)")
        }
    }
}
