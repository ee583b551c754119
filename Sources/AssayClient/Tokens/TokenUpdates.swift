/// The tokens of an app and the errors, as they come.
///
/// While somebody iterates, the token is refreshed in the background. The first element is the present token, if
/// there is one; a slow listener gets the newest update, and none twice. Each iterator is a listener of its own. It
/// ends with its task, or when it is dropped.
public struct TokenUpdates: AsyncSequence, Sendable {
    /// A token, or the reason why there is none now.
    public typealias Element = Result<AppCheckToken, AppCheckError>

    let driver: TokenDriver

    /// Starts to listen.
    public func makeAsyncIterator() -> Iterator {
        Iterator(driver: driver, updates: driver.listen().makeAsyncIterator())
    }

    /// Waits for one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
        // Listening keeps it alive.
        let driver: TokenDriver
        var updates: AsyncStream<Element>.AsyncIterator

        /// The next update; nil when the task is cancelled.
        public mutating func next() async -> Element? {
            await updates.next()
        }
    }
}
