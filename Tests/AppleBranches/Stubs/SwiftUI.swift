// swift-format-ignore-file
// The few declarations that the example app uses.
public import Combine

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }
@resultBuilder public struct ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { Either() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { Either() }
}
public struct Either<First: View, Second: View>: View { public var body: Never { fatalError() } }
public struct Text: View {
    public init(_ text: some StringProtocol) {}
    public var body: Never { fatalError() }
}
public struct ProgressView: View {
    public init() {}
    public var body: Never { fatalError() }
}
public struct List<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}
public struct ForEach<Data: RandomAccessCollection, Content: View>: View where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
    public var body: Never { fatalError() }
}
extension View {
    public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
    public func task(priority: TaskPriority = .userInitiated, _ action: @escaping @Sendable () async -> Void) -> some View { self }
}
@propertyWrapper public struct ObservedObject<Object: ObservableObject> {
    public var wrappedValue: Object
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}
@propertyWrapper @MainActor @preconcurrency public struct StateObject<Object: ObservableObject> {
    public var wrappedValue: Object { fatalError() }
    public nonisolated init(wrappedValue: @autoclosure @escaping () -> Object) {}
}
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor public static func main() {} }
