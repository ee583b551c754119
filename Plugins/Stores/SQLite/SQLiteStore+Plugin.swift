public import AssayKit

extension SQLiteStore: StateStorePlugin {
    /// `sqlite`, followed by the path of the database.
    public static let scheme = "sqlite"

    public static func open(
        _ location: String, clock: HostClock
    ) async throws(StateStoreOpeningError) -> SQLiteStore {
        guard !location.isExactly(":memory:") else {
            throw StateStoreOpeningError("`:memory:` would be the name of a file here; what is in memory is `memory`")
        }
        do throws(SQLiteStoreError) {
            return try SQLiteStore(path: location, clock: clock)
        } catch {
            throw StateStoreOpeningError(error.message)
        }
    }
}
