/// A key of a mapping and its value.
package struct YAMLEntry: Sendable {
    package let key: String
    package let value: YAMLNode
    let keyPosition: YAMLPosition
    let keyEnd: YAMLPosition

    package var keyLocation: SourceLocation { value.source.location(keyPosition) }
}
