// What the Objective-C layer uses of the runtime's root class.
@protocol NSObject
@end
__attribute__((objc_root_class))
@interface NSObject <NSObject>
- (nonnull instancetype)init;
@end
