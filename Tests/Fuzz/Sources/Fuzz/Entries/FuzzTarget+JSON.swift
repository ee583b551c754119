internal import AssayCore

extension FuzzTarget {
    func judgeJSON(_ input: [UInt8]) throws -> FuzzVerdict {
        let strict = Result { () throws(JSONError) in
            try JSON.parse(input, limits: JSON.Limits(allowsRepeatedNames: false))
        }
        let lenient = Result { () throws(JSONError) in try JSON.parse(input) }
        if case .success(let value) = strict {
            try BrokenPromise.unless(
                (try? lenient.get()) == value, "what has no name twice is read the same")
        }
        switch lenient {
        case .success(let value):
            let encoded = value.encoded
            // Escapes can make the text six times as long.
            let again = try JSON.parse(encoded, limits: JSON.Limits(bytes: 6 * input.count + 1024))
            try BrokenPromise.unless(again.encoded == encoded, "what was read can be written and read")
            if case .failure(let error) = strict {
                try BrokenPromise.unless(error.code == .repeatedName, "only names that are there twice are refused")
            }
            return .accepted
        case .failure(let error):
            try BrokenPromise.unless((0...input.count).contains(error.offset), "an error is somewhere in the text")
            return .refused("\(error.code)")
        }
    }
}
