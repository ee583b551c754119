import AssayCore
import AssayYAML
import Testing

@Suite("What a type looks like is seen from its own decoding")
struct ShapeTests {
    enum Mode: String, Decodable, CaseIterable { case enforced, monitored }

    struct Inner: Decodable {
        let name: String
        let secret: SecretReference?
    }

    struct Everything: Decodable {
        let mode: Mode
        let lifetime: Duration?
        let until: Instant?
        let count: UInt16?
        let share: Double?
        let isOn: Bool?
        let text: String?
        let list: [Inner]?
        let set: Set<String>?
        let named: [String: Inner]?
        let digest: SecretDigest
    }

    struct Empty: Decodable {}

    struct Node: Decodable {
        let name: String
        let children: [Node]?
        let parent: Box?
    }

    final class Box: Decodable {
        let node: Node

        init(from decoder: any Decoder) throws { node = try Node(from: decoder) }
    }

    /// Asks for other keys by what it reads.
    struct Either: Decodable {
        enum Keys: String, CodingKey { case mode, left, right }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: Keys.self)
            switch try keys.decode(Mode.self, forKey: .mode) {
            case .enforced: _ = try keys.decode(Int.self, forKey: .left)
            case .monitored: _ = try keys.decode(Int.self, forKey: .right)
            }
        }
    }

    /// Takes none of the samples.
    struct Picky: Decodable {
        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decode(String.self) == "a very special text" else {
                throw ConfigurationError("no")
            }
        }
    }

    struct WithPicky: Decodable {
        let before: Int
        let picky: Picky
        let after: Int
    }

    struct Extended: Decodable {
        let inner: Inner
        let more: Int?

        enum Keys: String, CodingKey { case more }

        init(from decoder: any Decoder) throws {
            inner = try Inner(from: decoder)
            more = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Int.self, forKey: .more)
        }
    }

    /// `key:shape`, with `?` behind keys that may be absent; `…` in the end where the keys are not fixed.
    private func outline(_ shape: ValueShape, levels: Int = 3) -> String {
        guard levels > 0 else { return "…" }
        func inner(_ type: any Decodable.Type) -> String { outline(ValueShape(of: type), levels: levels - 1) }
        switch shape {
        case .text: return "text"
        case .form(let form): return form.mayBeSecret ? "secret form" : "form"
        case .choice(let names): return names.joined(separator: "|")
        case .bool: return "bool"
        case .integer: return "integer"
        case .number: return "number"
        case .duration: return "duration"
        case .list(let element, let isSet): return (isSet ? "set of " : "list of ") + inner(element)
        case .dictionary(let value): return "names to " + inner(value)
        case .mapping(let shape):
            let fields = shape.fields.map { "\($0.key)\($0.isRequired ? "" : "?"):\(inner($0.type))" }
            return "{" + (fields + (shape.isFixed ? [] : ["…"])).joined(separator: " ") + "}"
        case .declared(let shape): return "{\(shape.keys.map(\.name).joined(separator: " "))}"
        case .opaque: return "opaque"
        }
    }

    @Test("Keys, types, and what may be absent")
    func shapes() {
        #expect(
            outline(ValueShape(of: Everything.self)) == """
                {mode:enforced|monitored lifetime?:duration until?:form count?:integer share?:number isOn?:bool text?:text \
                list?:list of {name:… secret?:…} set?:set of text named?:names to {name:… secret?:…} digest:secret form}
                """)
        #expect(outline(ValueShape(of: Empty.self)) == "{}")
        #expect(outline(ValueShape(of: Extended.self)) == "{name:text secret?:secret form more?:integer}")
        #expect(outline(ValueShape(of: [String]?.self)) == "list of text")
    }

    @Test("Types that hold themselves come to an end")
    func recursive() {
        #expect(outline(ValueShape(of: Node.self)).hasPrefix("{name:text children?:list of {"))
    }

    @Test("What cannot be seen is not guessed")
    func notFixed() {
        #expect(outline(ValueShape(of: Either.self)) == "{mode:enforced|monitored left?:integer right?:integer …}")
        #expect(outline(ValueShape(of: WithPicky.self)) == "{before:integer picky:text …}")
    }

    @Test("A type may hold a secret when anything in it may")
    func secrets() {
        for type in [Inner.self, [String: [Inner]].self, Everything.self] as [any Decodable.Type] {
            #expect(ValueShape(of: type).mayHoldSecret, "\(type)")
        }
        for type in [Mode.self, [String].self, Instant.self, Node.self] as [any Decodable.Type] {
            #expect(!ValueShape(of: type).mayHoldSecret, "\(type)")
        }
    }
}
