/// Text of another process, made safe for one line of a terminal.
package enum SafeLine {
    package static func of(_ text: String, limit: Int = 512) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line.append("?")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}
