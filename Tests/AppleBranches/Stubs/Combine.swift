// swift-format-ignore-file
public protocol ObservableObject: AnyObject {}
@propertyWrapper
public struct Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
