internal import AssayCore
package import AssayKit

/// What the state answered during one call of a provider, to be answered again.
package struct RecordedAnswers: Sendable {
    private let spaces: ProviderSpaces
    /// The answers that were not given again yet.
    private var answers: [StateAnswer]

    package init(_ answers: [StateAnswer], _ spaces: ProviderSpaces) {
        self.answers = answers
        self.spaces = spaces
    }

    /// The next answer that fits a question; one that was given once is given again, if there is no later one.
    mutating func next<Value>(_ key: StateKey, _ fit: (StateAnswer.Operation) -> Value?) -> Value? {
        let space = spaces.name(of: key.space)
        let fitting = answers.enumerated().compactMap { index, answer -> (index: Int, value: Value)? in
            guard answer.space.isExactly(space), answer.name.isExactly(key.name) else { return nil }
            return fit(answer.operation).map { (index, $0) }
        }
        guard let first = fitting.first else { return nil }
        // A later answer is there for the next question.
        if fitting.count > 1 { answers.remove(at: first.index) }
        return first.value
    }

    /// Whether a change was made; nil when that is not known.
    package mutating func isMade(_ change: StateChange) -> Bool? {
        switch change {
        case .insert(let key, _, _, _): insert(key)
        case .advance(let key, let value): advance(key, to: value)
        }
    }

    private mutating func insert(_ key: StateKey) -> Bool? {
        next(key) { operation in
            if case .insert(let isDone) = operation { isDone } else { nil }
        }
    }

    private mutating func advance(_ key: StateKey, to value: UInt64) -> Bool? {
        next(key) { operation in
            guard case .advance(let other, let isDone) = operation else { return nil }
            // A refused value says that the counter was no lower, an accepted one that it was.
            return isDone ? (value >= other ? true : nil) : (value <= other ? false : nil)
        }
    }

    package mutating func get(_ key: StateKey) -> [UInt8]?? {
        next(key) { operation -> [UInt8]?? in
            if case .get(let value) = operation { .some(value) } else { nil }
        }
    }
}
