/* A client of either version of versions/ in C++: as store_client.c. */
#ifdef NEW
#include "new.hpp"
#else
#include "old.hpp"
#endif
#include "check.h"

namespace versions = nearcall::idl::versions;

namespace {

/* What both versions have. */
void both(const versions::Store &store) {
    versions::Entry entry;
    entry.key = "a key";
    entry.value = 7;
    store.put(entry);
    CHECK(store.get("a key") == 7);
    std::string missing;
    try {
        store.get("no key");
    } catch (const versions::Missing &raised) {
        missing = raised.key;
    }
    CHECK(missing == "no key");
}

#ifdef NEW
const char *const ADDS_TO = "older";

/* What only the new one has, at an old server. */
void missing(const versions::Store &store) {
    bool is_provided = true;
    try {
        store.count();
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_NOT_EXECUTED && error.ran == NEARCALL_RAN_NO);
        is_provided = error.reason() != nearcall::reason::not_provided;
    }
    CHECK(!is_provided);
}
#else
const char *const ADDS_TO = "newer";

void missing(const versions::Store &) {}
#endif

void refused(const nearcall::domain &domain, const char *name) {
    bool is_refused = false;
    try {
        const versions::Store store(domain, name);
    } catch (const nearcall::call_error &error) {
        const std::string said = error.what();
        is_refused = error.outcome == NEARCALL_NOT_BOUND &&
                     error.reason() == nearcall::reason::hash &&
                     said.find("procedure 0, `get`, has other parameters, ") != std::string::npos;
    }
    CHECK(is_refused);
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 3);
    nearcall::domain domain;
    const std::string at = argv[2];
    if (at == "other") {
        refused(domain, argv[1]);
    } else {
        CHECK(at == ADDS_TO);
        const versions::Store store(domain, argv[1]);
        for (int round = 0; round < 100; round++) {
            both(store);
            missing(store);
        }
    }
    domain.shut_down();
    return 0;
}
