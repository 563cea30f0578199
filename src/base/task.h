// Task<T>: a coroutine on one strand. See docs/style notes on temporaries in co_await expressions:
// name lambdas and aggregates on the line above.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace outhaul {

namespace asio = boost::asio;
template <class T>
using Task = asio::awaitable<T>;
using Executor = asio::any_io_executor;

}  // namespace outhaul
