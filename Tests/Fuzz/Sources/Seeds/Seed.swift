import Fuzz

/// A file of a corpus.
struct Seed {
    let target: FuzzTarget
    /// `good-` and some words, or `bad-`, the code of the reason and perhaps some words.
    let name: String
    let bytes: [UInt8]

    init(_ target: FuzzTarget, _ name: String, _ bytes: [UInt8]) {
        self.target = target
        self.name = name
        self.bytes = bytes
    }
}
