// A view of a function that outlives the call it is handed to: two pointers. What takes one is
// compiled once, and not again for every body; the body is compiled once, too.
#pragma once

#include <utility>

namespace cutplane {

template <class Signature>
class FunctionView;

template <class Result, class... Arguments>
class FunctionView<Result(Arguments...)> {
 public:
  template <class Body>
  FunctionView(const Body& body)
      : body_(&body), call_([](const void* of, Arguments... arguments) -> Result {
          return (*static_cast<const Body*>(of))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(body_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* body_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace cutplane
