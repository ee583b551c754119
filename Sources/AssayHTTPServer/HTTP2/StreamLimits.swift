internal import NIOHTTP2

extension NIOHTTP2Handler.Configuration {
    /// What a client is told, and how much is taken of frames that cost it little.
    init(_ limits: HTTPLimits) {
        self.init()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams),
            // A head beyond the limit is answered with 431; one beyond this ends the connection, because its fields
            // must be read before anything can be said of them. Each field counts 32 bytes more than it has.
            HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * limits.headerBytes + 32 * limits.headerFields),
        ]
        connection.maximumRecentlyResetStreams = limits.streams
        // Within any 30 seconds; more end the connection with ENHANCE_YOUR_CALM. Clients reset a stream when somebody
        // gives up, and send a PING or SETTINGS every few seconds at most. A proxy has many users on one connection.
        connection.controlFrameRateLimit.maximumCount = 200
        stream.streamResetFrameRateLimit.maximumCount = 1000
        stream.streamErrorRateLimit.maximumCount = 100
        connection.maximumConnectionGlitches = 100
        connection.maximumSequentialContinuationFrames = 5
        connection.maximumSequentialEmptyDataFrames = 1
        connection.maximumBufferedControlFrames = 1000
    }
}
