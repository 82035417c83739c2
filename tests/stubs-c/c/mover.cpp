/* A client of versions/straight.idl in C++: as mover.c. */
#include "check.h"
#include "straight.hpp"

namespace moving = nearcall::idl::moving;

namespace {

/* Why the bind is refused; empty: it is not. */
std::string refusal(const nearcall::domain &domain, const char *name) {
    try {
        const moving::Mover mover(domain, name);
        CHECK(mover.carry(1, 2) == 12);
        moving::Place place;
        place.x = 1;
        place.y = 2;
        CHECK(mover.reach(place) == 12);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_NOT_BOUND && error.reason() == nearcall::reason::hash);
        return error.what();
    }
    return "";
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 3);
    nearcall::domain domain;
    const std::string words = argv[2], said = refusal(domain, argv[1]);
    CHECK(said.empty() == words.empty() && said.find(words) != std::string::npos);
    domain.shut_down();
    return 0;
}
