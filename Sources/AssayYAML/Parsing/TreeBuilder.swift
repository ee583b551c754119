internal import AssayCore
internal import CLibYAML

/// Builds the values of one document from events, on a stack of its own.
struct TreeBuilder {
    private struct Anchored {
        let node: YAMLNode
        let count: Int
        let height: Int
    }

    private let source: YAMLSource
    private let text: YAMLText
    private let ambiguities: AmbiguousSyntax
    private let limits: YAMLLimits
    private let problems = DiagnosticSink()
    private var stack: [OpenCollection] = []
    private var root: YAMLNode?
    private var anchors: [ExactText: Anchored] = [:]
    private var count = 0
    private var documentPosition = YAMLPosition.start

    init(source: YAMLSource, text: YAMLText, limits: YAMLLimits) {
        self.source = source
        self.text = text
        ambiguities = AmbiguousSyntax(source)
        self.limits = limits
    }

    /// Consumes all events; duplicate keys and similar errors are collected up to a limit, while syntax errors and
    /// exceeded limits end it.
    mutating func build(from parser: borrowing EventParser) throws(Diagnostics) -> YAMLNode {
        do throws(Diagnostics) {
            while try accept(parser.next().pointee) {}
        } catch {
            concealUnread()
            problems.report(error)
        }
        try problems.throwIfAny()
        return root ?? YAMLNode(content: .mapping([]), source: source, position: .start, end: .start)
    }

    /// Hides what follows the line of a key whose value could not be read to its end, when it may be a secret.
    private func concealUnread() {
        guard let key = stack.last?.key, let line = stack.last?.keyPosition.line, SecretNames.mayNameSecret(key) else {
            return
        }
        source.conceal(YAMLPosition(line: min(line, .max - 1) + 1, column: 1)..<YAMLPosition.end)
    }

    /// Handles one event; false after the last one, or when there are too many problems.
    private mutating func accept(_ event: yaml_event_t) throws(Diagnostics) -> Bool {
        guard !problems.isOverfull else { return false }
        switch event.type {
        case YAML_STREAM_END_EVENT:
            return false
        case YAML_DOCUMENT_START_EVENT:
            documentPosition = YAMLPosition(event.start_mark)
        case YAML_SCALAR_EVENT:
            try scalar(event)
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            refuseTag(start.tag, event)
            try open(event, isMapping: false, anchor: start.anchor)
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            refuseTag(start.tag, event)
            try open(event, isMapping: true, anchor: start.anchor)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            try close(event)
        case YAML_ALIAS_EVENT:
            try alias(event)
        default:
            break
        }
        return true
    }

    private mutating func scalar(_ event: yaml_event_t) throws(Diagnostics) {
        let scalar = event.data.scalar
        let text = meaning(of: event)
        refuseTag(scalar.tag, event)
        refuseAnchorName(scalar.anchor, event)
        let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
        let position = YAMLPosition(event.start_mark)
        // A document without content, as after the last `---` of a file, does not count.
        if stack.isEmpty, isPlain, text.isEmpty { return }
        try beginRoot(event)
        if isPlain, event.end_mark.line > event.start_mark.line { refuseSwallowedItem(event) }
        if !stack.isEmpty, stack[stack.count - 1].expectsKey {
            if scalar.anchor != nil { report(event, "an anchor on a key is not supported") }
            key(text, isPlain: isPlain, event)
            return
        }
        try countNodes(1, event)
        let node = YAMLNode(
            content: .scalar(text, isPlain: isPlain), source: source, position: position,
            end: YAMLPosition(event.end_mark))
        if let anchor = scalar.anchor {
            anchors[ExactText(String(cString: anchor))] = Anchored(node: node, count: 1, height: 0)
        }
        place(node, height: 0)
    }

    private mutating func key(_ text: String, isPlain: Bool, _ event: yaml_event_t) {
        let position = YAMLPosition(event.start_mark)
        if ambiguities.isBehindQuestionMark(position) {
            report(
                YAMLPosition(line: position.line, column: position.column - 1),
                "`?` at the start of a key is read as a sign and not as a part of the key", key: text,
                hint: "put the key in quotes, or leave the `?` out")
        }
        if isPlain, text.isExactly("<<") {
            report(position, "merge keys (`<<`) are not supported", key: text, hint: "repeat the keys")
        }
        if let first = stack[stack.count - 1].begin(key: text, at: position, to: YAMLPosition(event.end_mark)) {
            report(
                position, "duplicate key \(DisplayText.quoted(text))", key: text,
                related: [.init(location: source.location(first), message: "first defined here")])
        }
    }

    private mutating func open(
        _ event: yaml_event_t, isMapping: Bool, anchor: UnsafeMutablePointer<yaml_char_t>?
    ) throws(Diagnostics) {
        refuseAnchorName(anchor, event)
        try beginRoot(event)
        if !stack.isEmpty, stack[stack.count - 1].expectsKey {
            throw stop(event, "expected a key, found a \(isMapping ? "mapping" : "sequence")")
        }
        guard stack.count < limits.depth else {
            throw stop(event, "nested more than \(limits.depth) levels deep")
        }
        try countNodes(1, event)
        let name = anchor.map { String(cString: $0) }
        // An anchor may be defined again; until it closes, its name is undefined.
        if let name { anchors[ExactText(name)] = nil }
        stack.append(
            OpenCollection(
                isMapping: isMapping, anchor: name, position: YAMLPosition(event.start_mark), countBefore: count - 1))
    }

    private mutating func close(_ event: yaml_event_t) throws(Diagnostics) {
        guard let closed = stack.popLast() else { return }
        let content: YAMLNode.Content = closed.isMapping ? .mapping(closed.entries) : .sequence(closed.elements)
        let node = YAMLNode(
            content: content, source: source, position: closed.position, end: YAMLPosition(event.end_mark))
        if let anchor = closed.anchor {
            anchors[ExactText(anchor)] = Anchored(node: node, count: count - closed.countBefore, height: closed.height)
        }
        place(node, height: closed.height)
    }

    private mutating func alias(_ event: yaml_event_t) throws(Diagnostics) {
        let name = event.data.alias.anchor.map { String(cString: $0) } ?? ""
        refuseAnchorName(event.data.alias.anchor, event)
        if !stack.isEmpty, stack[stack.count - 1].expectsKey {
            throw stop(event, "expected a key, found an alias")
        }
        guard let anchored = anchors[ExactText(name)] else {
            let isOpen = stack.contains { $0.anchor.isExactly(name) }
            throw stop(
                event, "\(isOpen ? "an alias within its own anchor" : "no anchor"): \(DisplayText.quoted("*" + name))")
        }
        guard stack.count + anchored.height <= limits.depth else {
            throw stop(event, "nested more than \(limits.depth) levels deep")
        }
        try countNodes(anchored.count, event)
        place(anchored.node, height: anchored.height)
    }

    /// What a scalar means: what libyaml makes of it, except halves of characters.
    private func meaning(of event: yaml_event_t) -> String {
        guard !text.quoted.isEmpty, let quoted = text.quoted[YAMLPosition(event.start_mark)] else {
            return Self.text(of: event)
        }
        for position in quoted.lone {
            problems.report(
                source.diagnostic(
                    "half of a character: an escape from `\\ud800` to `\\udfff` has a meaning only in a pair",
                    at: position,
                    path: path,
                    hint:
                        "write the character itself, or both of its escapes, the first below `\\udc00` and the second "
                        + "from there on"))
        }
        return quoted.value ?? ""
    }

    static func text(of event: yaml_event_t) -> String {
        let scalar = event.data.scalar
        return String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
    }

    /// Only one document of a file may hold something.
    private func beginRoot(_ event: yaml_event_t) throws(Diagnostics) {
        guard stack.isEmpty, let root else { return }
        throw Diagnostics(
            source.diagnostic(
                "more than one document in the file", at: documentPosition, path: .root,
                hint: "remove the `---`, or write each document into a file of its own",
                related: [.init(location: root.location, message: "the first one starts here")]))
    }

    private mutating func place(_ node: YAMLNode, height: Int) {
        if stack.isEmpty {
            root = node
        } else {
            stack[stack.count - 1].add(node, height: height)
        }
    }

    private mutating func countNodes(_ more: Int, _ event: yaml_event_t) throws(Diagnostics) {
        guard more <= limits.nodes - count else {
            throw stop(event, "more than \(limits.nodes) values, counting those that aliases repeat")
        }
        count += more
    }

    private func refuseTag(_ tag: UnsafeMutablePointer<yaml_char_t>?, _ event: yaml_event_t) {
        guard let tag else { return }
        report(event, "explicit tags are not supported: \(DisplayText.quoted(String(cString: tag)))")
    }

    /// libyaml ends a name where YAML 1.2 does not, and reads the rest of it as the value.
    private func refuseAnchorName(_ name: UnsafeMutablePointer<yaml_char_t>?, _ event: yaml_event_t) {
        guard let name else { return }
        let end = ambiguities.endOfName(String(cString: name), at: YAMLPosition(event.start_mark))
        guard let end else { return }
        problems.report(
            source.diagnostic(
                "the name of an anchor continues after \(DisplayText.quoted(String(cString: name)))", at: end,
                path: path,
                hint: "use letters, digits, `_` and `-` only, and a space after the name"))
    }

    /// An item that is indented more than the one above it would become a part of its text.
    private func refuseSwallowedItem(_ event: yaml_event_t) {
        let lines = YAMLPosition(event.start_mark).line...YAMLPosition(event.end_mark).line
        guard let dash = ambiguities.swallowedItem(in: lines) else { return }
        problems.report(
            source.diagnostic(
                "`- ` is read as a part of the text that starts in line \(lines.lowerBound), and not as an item",
                at: dash,
                path: path,
                hint: "indent it like the items of its list, or put the text in quotes"))
    }

    private func report(_ event: yaml_event_t, _ message: String) {
        problems.report(source.diagnostic(message, at: YAMLPosition(event.start_mark), path: path))
    }

    private func report(
        _ position: YAMLPosition, _ message: String, key: String, hint: String? = nil, related: [Diagnostic.Note] = []
    ) {
        var parent = YAMLPath.root
        for collection in stack.dropLast() { parent = parent.appending([collection.place]) }
        problems.report(
            source.diagnostic(message, at: position, path: parent.key(key), hint: hint, related: related))
    }

    private func stop(_ event: yaml_event_t, _ message: String) -> Diagnostics {
        Diagnostics(source.diagnostic(message, at: YAMLPosition(event.start_mark), path: path))
    }

    /// The present place of the builder, for diagnostics.
    private var path: YAMLPath {
        var path = YAMLPath.root
        for collection in stack where !collection.expectsKey { path = path.appending([collection.place]) }
        return path
    }
}
