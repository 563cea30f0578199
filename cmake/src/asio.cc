// The one translation unit that holds Asio's definitions.
#include <boost/asio/impl/src.hpp>
