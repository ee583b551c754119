internal import HummingbirdCore
internal import NIOCore

/// A connection that was taken, and the requests that come over it.
struct HTTPConnection: ServerChildChannelValue {
    let channel: any Channel
    let exchanges: AsyncStream<HTTPExchange>
}
