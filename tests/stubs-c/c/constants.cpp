/* Constants of interface files in C++: values of their types, in the namespace of their module, and
 * no macros. */
#include <cstring>
#include <string>
#include <type_traits>

#include "constants.hpp"
#include "everything.hpp"
#include "interfaces.hpp"
#include "naming.hpp"

namespace idl = nearcall::idl;
namespace everything = nearcall::idl::everything;

template <typename Wanted, typename Constant>
constexpr bool is(const Constant &) {
    return std::is_same_v<Wanted, Constant>;
}

/* Enums, by their own name and by an alias, within a module and without one. */
constexpr idl::Kind kind = idl::CHOSEN;
static_assert(kind == idl::Kind::SECOND && is<idl::Kind>(idl::AGAIN));
static_assert(is<everything::Color>(everything::favourite));
static_assert(everything::favourite == everything::Color::blue);

/* Other types. */
static_assert(is<std::int32_t>(idl::NEGATIVE) && idl::NEGATIVE == 6);
static_assert(is<std::uint64_t>(idl::TOP) && idl::TOP == std::uint64_t(1) << 63);
static_assert(is<std::int64_t>(idl::BOTTOM) && idl::BOTTOM == -0x7fffffffffffffff - 1);
static_assert(is<std::uint8_t>(idl::LOW_BITS) && idl::LOW_BITS == 15);
static_assert(is<double>(idl::FLOATING) && idl::FLOATING == -2.625);
static_assert(is<float>(everything::third) && everything::third == 1.0f / 3.0f);
static_assert(is<double>(everything::much) && everything::much > 1e300);
static_assert(is<char>(everything::initial) && everything::initial == 'x');
static_assert(is<std::uint32_t>(everything::wide_initial) && everything::wide_initial == 0x20ac);
static_assert(is<bool>(everything::yes) && everything::yes && !idl::SAME);
static_assert(is<everything::Length>(everything::metre) && everything::metre == 100);

/* Within an interface, and called as functions beside clients. */
static_assert(is<idl::service::Base_Handle>(idl::service::Base_NONE));
static_assert(idl::posting_ == 4 && idl::with::deadline == 5 && idl::with_bound == 6);
static_assert(idl::idl == 9 && idl::detail == 10 && idl::vector == 11 && idl::size == 12);
static_assert(idl::within_BOUND == 7 && idl::within_BOUND_ == 8);

#if defined(CHOSEN) || defined(everything_favourite) || defined(service_Base_NONE)
#error "constants are still macros"
#endif

/* Text is what text is made of. */
bool has_text();
bool has_text() {
    const std::string text = everything::text;
    return text == "two pieces" && std::strcmp(idl::JOINED, "ab\nA") == 0;
}
