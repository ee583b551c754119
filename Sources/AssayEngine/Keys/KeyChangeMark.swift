/// What a stored set of keys is known by, without its being read: another one means that something was changed.
///
/// Of a file these are its identity, its size and its times. Every change of keys is another file.
public struct KeyChangeMark: Sendable, Hashable {
    private let parts: [Int64]

    init(_ parts: [Int64]) {
        self.parts = parts
    }
}
