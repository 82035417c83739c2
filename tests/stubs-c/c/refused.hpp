/* Why calls of ours are refused, for programs in C++. */
#ifndef REFUSED_HPP
#define REFUSED_HPP

#include <string>

#include <nearcall.hpp>

#include "check.h"

/* Empty: it is not. */
template <class F> std::string why_refused(F call) {
    try {
        call();
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        return error.what();
    }
    return "";
}

#endif
