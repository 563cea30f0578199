// The one translation unit that holds Beast's definitions.
#include <boost/beast/src.hpp>
