internal import AppAttest
internal import AssayEngine
internal import Debug
internal import SQLite

/// The plugins of this program: the one place where they are listed.
enum Plugins {
    static let all: [Plugin] = [
        .provider(AppAttestProvider.self),
        .provider(DebugProvider.self),
        .store(SQLiteStore.self),
    ]

    static func registry() throws -> Registry {
        try Registry(all)
    }
}
