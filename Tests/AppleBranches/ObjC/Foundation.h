// What the Objective-C layer uses of Foundation's classes.
#include <ObjectiveC.h>
@interface NSString : NSObject
@end
@interface NSDate : NSObject
@end
@interface NSError : NSObject
@end
