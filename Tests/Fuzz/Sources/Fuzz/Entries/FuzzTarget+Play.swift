internal import AssayCore
internal import AssayCrypto
internal import AssayPlayIntegrity

extension FuzzTarget {
    /// Accepted is what opens and was signed.
    func judgePlayToken(_ input: [UInt8]) throws -> FuzzVerdict {
        let play = try FuzzScene.shared().play
        return try judge(input, play) { payload in
            try BrokenPromise.unless(payload.encoded == PlayScene.payload, "no token can be made without the keys")
        }
    }

    /// Accepted is a header of the one form, over a content with a key of 32 bytes.
    func judgePlayHeader(_ input: [UInt8]) throws -> FuzzVerdict {
        let play = try FuzzScene.shared().play
        let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
        let (header, key) = (Array(input[..<end]), Array(input[end...].dropFirst()))
        guard key.isEmpty || AES256KeyWrap.keyByteCounts.contains(key.count) && key.count.isMultiple(of: 8) else {
            return .refused("key_length")
        }
        let content = try play.content(of: PlayScene.payload)
        let token = try play.token(header: header, contentKey: key.isEmpty ? nil : key, holding: content)
        return try judge(token, play) { _ in
            let json = try JSON.parse(header)
            try BrokenPromise.unless(
                json["alg"] == "A256KW" && json["enc"] == "A256GCM" && json["zip"] == nil && json["crit"] == nil,
                "a header is of the one form")
            try BrokenPromise.unless(
                key.isEmpty || key.count == AES256GCM.keyByteCount, "a content has a key of 32 bytes")
        }
    }

    /// Accepted is what the app's key signed.
    func judgePlayContent(_ input: [UInt8]) throws -> FuzzVerdict {
        let play = try FuzzScene.shared().play
        let token = try play.token(holding: input)
        let verdict = try judge(token, play) { payload in
            try BrokenPromise.unless(payload.encoded == PlayScene.payload, "nothing is signed without the key")
        }
        try BrokenPromise.unless(verdict != .refused("play_token_not_opened"), "what was encrypted opens")
        return verdict
    }

    /// Accepted is what can be read as a verdict.
    func judgePlayVerdict(_ input: [UInt8]) throws -> FuzzVerdict {
        let play = try FuzzScene.shared().play
        let token = try play.token(holding: try play.content(of: input))
        let verdict = try judge(token, play) { payload in
            try BrokenPromise.unless(try JSON.parse(input) == payload, "what was signed is what is read")
            let facts = try PlayIntegrityFacts.stated(in: payload, isOpenedHere: true, at: FuzzScene.now)
            try BrokenPromise.unless(
                facts.allSatisfy { PlayIntegrityFacts.all.contains($0.name) }
                    && Set(facts.map(\.name)).count == facts.count, "each fact is known, and stated once")
            let labels = payload["deviceIntegrity"]?["deviceRecognitionVerdict"]?.array ?? []
            let level = facts.first { $0.name == PlayIntegrityFacts.level }?.value
            try BrokenPromise.unless(
                (level == .text("none"))
                    != labels.contains { label in
                        ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"].contains(label)
                    }, "a device without a label has no level")
        }
        try BrokenPromise.unless(
            ![.refused("play_token_not_opened"), .refused("play_signature_invalid")].contains(verdict),
            "what was signed and encrypted opens and is verified")
        return verdict
    }

    /// - Parameter check: what must hold of a payload whose facts can be read.
    private func judge(
        _ token: [UInt8], _ play: PlayScene, _ check: (JSON) throws -> Void
    ) throws -> FuzzVerdict {
        // A longer one is refused for its length alone.
        let payload: JSON
        do throws(PlayRefusal) {
            payload = try play.keys.open(token)
            _ = try PlayIntegrityFacts.stated(in: payload, isOpenedHere: true, at: FuzzScene.now)
        } catch {
            return .refused(error.reason.code)
        }
        try check(payload)
        return .accepted
    }
}
