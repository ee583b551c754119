public import AssayKit

extension SQLiteStore: StateStorePlugin {
    /// `sqlite`, followed by the path of the database.
    public static let scheme = "sqlite"

    public static func open(
        _ location: String, clock: HostClock
    ) async throws(StateStoreOpeningError) -> SQLiteStore {
        do throws(SQLiteStoreError) {
            return try SQLiteStore(path: location, clock: clock)
        } catch {
            throw StateStoreOpeningError(error.description)
        }
    }
}
