internal import AssayCore
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension OutboundFailure {
    /// A failure of TLS, in words for an operator.
    init(_ fault: TLSFault, calling url: EndpointURL, trusting authorities: HTTPClientOptions.Authorities) {
        self.init(
            .tlsRefused, "\(url.host):\(url.port): \(fault.words(calling: url.host, trusting: authorities))")
    }

    /// What the layers below threw, in the terms of the contract.
    ///
    /// - Parameter authorities: what the client trusts.
    init(
        _ error: any Error, calling url: EndpointURL,
        trusting authorities: HTTPClientOptions.Authorities = HTTPClientOptions().authorities
    ) {
        if let fault = TLSFault(error) {
            self.init(fault, calling: url, trusting: authorities)
            return
        }
        let server = "\(url.host):\(url.port)"
        switch error {
        case let failure as OutboundFailure:
            self = failure
        case is CancellationError:
            self.init(.cancelled, "the call of \(server) was cancelled")
        case let error as ResponseTooLarge:
            self.init(.tooLarge, "\(server) answers with more than \(error.limit) bytes")
        case is TooManyInformationalResponses:
            self.init(.tooLarge, "\(server) sends informational responses without end")
        case let error as HTTPClientError:
            self.init(Self.code(of: error), "\(server): \(error.shortDescription)")
        case is NIOConnectionError, is SocketAddressError, is SocketAddressError.UnknownHost, is ChannelError:
            self.init(.cannotConnect, "\(server): \(Self.words(error))")
        case let error as IOError where Self.isAboutConnecting(error.errnoCode):
            self.init(.cannotConnect, "\(server): \(Self.words(error))")
        default:
            self.init(.interrupted, "\(server): \(Self.words(error))")
        }
    }

    private static func isAboutConnecting(_ number: CInt) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, EACCES, EPERM].contains(number)
    }

    private static func code(of error: HTTPClientError) -> Code {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            .timedOut
        case .cancelled, .requestStreamCancelled: .cancelled
        case .alreadyShutdown: .closed
        case .invalidProxyResponse, .proxyAuthenticationRequired: .cannotConnect
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .identityCodingIncorrectlyPresent,
            .contentLengthMissing, .traceRequestWithBody:
            .invalidRequest
        default:
            if requestErrors.contains(exactly: error.shortDescription) { .invalidRequest } else { .interrupted }
        }
    }

    /// The names of errors with parameters, which are not constants.
    private static let requestErrors = [
        HTTPClientError.invalidHeaderFieldNames([]).shortDescription,
        HTTPClientError.invalidHeaderFieldValues([]).shortDescription,
        HTTPClientError.unsupportedScheme("").shortDescription,
    ]

    /// The system's message, if it has one.
    ///
    /// The description of such an error nests those of several layers, with unbalanced brackets.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            var seen: Set<ExactText> = []
            let causes = error.connectionErrors.map { words($0.error) }.filter { seen.insert(ExactText($0)).inserted }
            return causes.isEmpty ? "the name has no address" : causes.joined(separator: "; ")
        default: return short(error)
        }
    }

    /// Only the start: errors of lower layers can be as long as the input that caused them.
    static func short(_ error: any Error) -> String {
        let text = "\(error)"
        let shown = text.utf8.prefix(300).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: shown, as: UTF8.self) + (text.utf8.count > shown.count ? "..." : "")
    }
}
