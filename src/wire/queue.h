// Queue: first in, first out. Costs nothing while it is empty, as most queues of most sessions always are: an
// empty std::deque holds half a kilobyte.
#pragma once

#include <list>

namespace outhaul::wire {

template <class T>
using Queue = std::list<T>;

}  // namespace outhaul::wire
