/* array bit complex concepts functional initializer_list iterator limits optional ratio span tuple type_traits
   utility variant */
#if __has_include(<cuda/std/@>)
#include <cuda/std/@>
namespace std {
using namespace cuda::std;
}
#endif
