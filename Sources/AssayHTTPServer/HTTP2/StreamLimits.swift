internal import NIOCore
internal import NIOHTTP2

extension NIOHTTP2Handler.Configuration {
    /// The limits that a client is told, and how many cheap frames are accepted from it.
    ///
    /// - Parameter isProxy: whether it is a trusted proxy, so that many clients share its connection.
    init(_ limits: HTTPLimits, isProxy: Bool) {
        self.init()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams),
            // A head beyond the limit is answered with 431; one beyond this value ends the connection, because its
            // fields must be read before an answer is possible. Each field counts 32 bytes more than its size.
            HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * limits.headerBytes + 32 * limits.headerFields),
        ]
        connection.maximumRecentlyResetStreams = limits.streams
        // Within any 30 seconds; more frames end the connection with ENHANCE_YOUR_CALM. Clients reset a stream when a
        // user gives up, and send a PING or SETTINGS every few seconds at most. A proxy has many users on one
        // connection. What a reset request costs is bounded by the requests that are being answered.
        connection.controlFrameRateLimit.maximumCount = 200
        stream.streamResetFrameRateLimit.maximumCount = 1000
        stream.streamErrorRateLimit.maximumCount = 100
        connection.maximumConnectionGlitches = 100
        if isProxy {
            // In one second; one of its clients can cause each of them.
            stream.streamResetFrameRateLimit.maximumCount = 5000
            stream.streamResetFrameRateLimit.windowLength = .seconds(1)
            stream.streamErrorRateLimit.maximumCount = 5000
            stream.streamErrorRateLimit.windowLength = .seconds(1)
            connection.maximumConnectionGlitches = .max
        }
        connection.maximumSequentialContinuationFrames = 5
        connection.maximumSequentialEmptyDataFrames = 1
        connection.maximumBufferedControlFrames = 1000
    }
}
