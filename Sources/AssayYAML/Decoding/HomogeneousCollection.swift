/// A collection whose own decoder reads elements of one type only, so that after one has failed the others can be
/// tried as well.
protocol HomogeneousCollection {}

extension Array: HomogeneousCollection {}
extension ContiguousArray: HomogeneousCollection {}
extension Set: HomogeneousCollection {}
extension Dictionary: HomogeneousCollection {}
