internal import AssayApple
internal import AssayCore
internal import AssayKit

/// Apple's DeviceCheck (Apple, Accessing and Modifying Per-Device Data).
struct AppleDeviceCheck: DeviceTokenUpstream {
    /// Answers are a line of text or a small object.
    private static let responseLimit = 4096
    private static let youth = Duration.seconds(60)
    /// How many bytes a device token may have.
    ///
    /// Apple does not document the size; tokens of iPhones have about 2,300 bytes.
    private static let tokenBytes = 16...8192

    let server: EndpointURL
    let key: AppleServerKey
    let form: AppleAuthorizationForm

    var keepsBits: Bool { true }

    func canonical(_ deviceToken: String) -> String? {
        // A text that is too long is not even decoded: four characters encode three bytes.
        guard deviceToken.utf8.count <= Self.tokenBytes.upperBound / 3 * 4 + 4,
            let bytes = Base64.decode(deviceToken), Self.tokenBytes.contains(bytes.count)
        else { return nil }
        return Base64.encode(bytes)
    }

    func credential(at now: Instant, insteadOf refused: String?) throws -> String {
        let token = try key.token(at: now)
        // Apple refuses callers that make tokens all the time: a new token that is refused is not refused for its age.
        guard refused.isExactly(form.header(token)), now >= token.issued + Self.youth else { return form.header(token) }
        return form.header(try key.token(at: now, insteadOf: token))
    }

    func request(_ question: DeviceQuestion, credential: String, at now: Instant) throws -> OutboundRequest {
        var members = [
            JSONMember("device_token", .string(question.deviceToken)),
            JSONMember("transaction_id", .string(question.transaction)),
            JSONMember("timestamp", .integer(now.milliseconds)),
        ]
        let path: String
        switch question.kind {
        case .validate: path = "/v1/validate_device_token"
        case .query: path = "/v1/query_two_bits"
        case .update(let bit0, let bit1):
            path = "/v1/update_two_bits"
            if let bit0 { members.append(JSONMember("bit0", .bool(bit0))) }
            if let bit1 { members.append(JSONMember("bit1", .bool(bit1))) }
        }
        guard let url = server.appending(path) else { throw UpstreamFailure(.notSent, "the base URL has a query") }
        return OutboundRequest(
            .post, url,
            headers: [OutboundHeader("Authorization", credential), OutboundHeader("Content-Type", "application/json")],
            body: JSON.object(members).encoded, responseLimit: Self.responseLimit)
    }

    func read(_ response: OutboundResponse, to question: DeviceQuestion) throws -> UpstreamVerdict<DeviceBits?> {
        let words = AppleWords(response.body)
        switch response.status {
        case 200: return .genuine(try Self.bits(response.body, words, question))
        case 400 where words.isAboutDeviceToken: return .refused(detail: words.text)
        case 400, 401, 403: throw UpstreamFailure(response, words.text)
        default: throw UpstreamFailure(response)
        }
    }

    private static func bits(_ body: [UInt8], _ words: AppleWords, _ question: DeviceQuestion) throws -> DeviceBits? {
        guard question.kind == .query else {
            guard words.isEmpty else { throw UpstreamFailure(.malformed, "200 with a body") }
            return nil
        }
        if words.saysThatBitsAreUnset { return .unset }
        guard let json = try? JSON.parse(body, limits: JSON.Limits(bytes: responseLimit)),
            case .bool(let bit0)? = only("bit0", json), case .bool(let bit1)? = only("bit1", json)
        else { throw UpstreamFailure(.malformed, "200 without the bits") }
        let month = only("last_update_time", json)?.string.flatMap { isMonth($0) ? $0 : nil }
        return DeviceBits(bit0: bit0, bit1: bit1, lastUpdate: month)
    }

    /// A member that is present once: of two, different readers use different ones.
    private static func only(_ name: String, _ json: JSON) -> JSON? {
        let values = json.members?.filter { $0.name.isExactly(name) } ?? []
        return values.count == 1 ? values[0].value : nil
    }

    /// Whether a text is of the form `YYYY-MM`.
    private static func isMonth(_ text: String) -> Bool {
        text.utf8.count == 7
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 4 ? byte == UInt8(ascii: "-") : byte.isASCIIDigit
            }
    }
}

/// A plain-text answer of Apple's, read regardless of case and of white space around it.
struct AppleWords: Sendable {
    /// The beginning, when it is printable ASCII.
    let text: String?
    let isEmpty: Bool
    private let lowered: String

    init(_ body: [UInt8]) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = body[...].drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        isEmpty = bytes.isEmpty
        bytes = bytes.prefix(200)
        let isText = !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        text = isText ? String(decoding: bytes, as: UTF8.self) : nil
        lowered = (text ?? "").lowercasedASCII
    }

    /// 400 with `Missing or incorrectly formatted device token payload`, or without the last word, or in an object.
    var isAboutDeviceToken: Bool { lowered.utf8.contains("device token".utf8) }

    /// `Failed to find bit state`, once `Bit State Not Found`: with status 200 for devices whose bits were never set.
    var saysThatBitsAreUnset: Bool { ["failed to find bit state", "bit state not found"].contains(exactly: lowered) }
}
