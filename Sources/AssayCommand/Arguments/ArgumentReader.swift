internal import ArgumentParser
internal import AssayCore

/// Reads the values of one kind of option; of a text that is none it says why, and what is accepted.
struct ArgumentReader<Value: Sendable>: Sendable {
    /// What is accepted, for messages: `a number from 1 to 100`.
    let accepted: String
    /// The bounds, for the help: `1 to 100`; nil where the help says what is accepted.
    let bounds: String?
    /// A value as an option takes it, for the help.
    let text: @Sendable (Value) -> String
    /// The value of a text, or why it is none.
    let read: @Sendable (String) throws(ArgumentCause) -> Value

    /// Makes a reader from a function that throws the cause.
    init(
        accepted: String, bounds: String? = nil, text: @escaping @Sendable (Value) -> String = { "\($0)" },
        read: @escaping @Sendable (String) throws(ArgumentCause) -> Value
    ) {
        self.accepted = accepted
        self.bounds = bounds
        self.text = text
        self.read = read
    }

    /// The value of a text.
    ///
    /// - Throws: `ValidationError` with the cause, and with what is accepted.
    func value(_ text: String) throws -> Value {
        do throws(ArgumentCause) {
            return try read(text)
        } catch {
            throw ValidationError("\(error.words); expected \(accepted)")
        }
    }

    /// The help of an option, with the bounds and the default value.
    fileprivate func help(
        _ text: String, _ valueName: String, _ visibility: ArgumentVisibility, standard: String? = nil
    ) -> ArgumentHelp {
        let notes = [bounds, standard.map { "default: \($0)" }].compactMap(\.self)
        let note = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        return ArgumentHelp("\(text)\(note)", valueName: valueName, visibility: visibility)
    }
}

/// Why a text is not accepted: `too small`.
struct ArgumentCause: Error, ExpressibleByStringLiteral {
    let words: String

    init(_ words: String) {
        self.words = words
    }

    init(stringLiteral words: String) {
        self.init(words)
    }
}

// The next argument is taken as the value whatever it is: a negative number is too small, and no unknown option.
extension Option {
    /// An option with a default value.
    init(
        wrappedValue: Value, name: NameSpecification = .long, help: String, valueName: String,
        visibility: ArgumentVisibility = .default, reading reader: ArgumentReader<Value>
    ) where Value: Sendable {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: .unconditional,
            help: reader.help(help, valueName, visibility, standard: reader.text(wrappedValue)),
            transform: { try reader.value($0) })
    }

    /// An option that may be left out.
    init<Element: Sendable>(
        name: NameSpecification = .long, help: String, valueName: String, visibility: ArgumentVisibility = .default,
        reading reader: ArgumentReader<Element>
    ) where Value == Element? {
        self.init(
            name: name, parsing: .unconditional, help: reader.help(help, valueName, visibility),
            transform: { try reader.value($0) })
    }

    /// An option that may be given several times.
    init<Element: Sendable>(
        wrappedValue: [Element], name: NameSpecification = .long, help: String, valueName: String,
        visibility: ArgumentVisibility = .default, reading reader: ArgumentReader<Element>
    ) where Value == [Element] {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: .unconditionalSingleValue,
            help: reader.help(help, valueName, visibility), transform: { try reader.value($0) })
    }
}
