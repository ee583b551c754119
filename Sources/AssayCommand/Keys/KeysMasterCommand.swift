internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServices
internal import Logging

/// `assay keys master`.
struct KeysMasterCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "master", abstract: "Make a master key, or show the identifier of one.",
            discussion: """
                A master key encrypts the keys that --keys state:MASTERKEY keeps in the state store. It is named as

                    file:PATH           a file that only its owner may read, with 32 random bytes or their Base64 or hexadecimal text
                    env:NAME            an environment variable with such a text
                    pkcs11:ATTRIBUTES   an AES-256 key in a token, which it never leaves (RFC 7512), for example
                        pkcs11:token=assay;object=master?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/pin

                With --new it is made, in a file or in a token; nothing is overwritten. Keep a copy of a file in a safe place \
                that is not that of the backups of the state: without the master key, all keys of the service are lost.

                    \(program) keys master --new file:/etc/assay/master

                It prints the key's identifier, which reveals nothing of the key.
                """)
    }

    @Flag(name: .customLong("new"), help: "Make the key; otherwise it must exist.")
    var isNew = false

    @Argument(help: "The master key.")
    var masterKey: String

    func run() async throws {
        do {
            let host = StorageHost(
                logger: Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() }))
            let place = try MasterKeyPlace(masterKey)
            let key = isNew ? try await place.create(host) : try await place.open(host)
            try Terminal.say("\(key.id)")
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
