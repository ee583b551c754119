enum Word: String { case yes, no }

func word(_ text: String) -> Word? { Word(rawValue: text) }
