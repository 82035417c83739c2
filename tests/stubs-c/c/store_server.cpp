/* A server of either version of versions/ in C++: as store_server.c. */
#include <map>
#include <mutex>

#ifdef NEW
#include "new.hpp"
#else
#include "old.hpp"
#endif
#include "check.h"
#include "serve.h"

namespace versions = nearcall::idl::versions;

namespace {

class Keeper : public versions::StoreServer {
    std::mutex alone_;
    std::map<std::string, std::int32_t> kept_;

    std::int32_t get(const std::string &key) override {
        const std::lock_guard<std::mutex> alone(alone_);
        const auto found = kept_.find(key);
        if (found == kept_.end()) {
            versions::Missing missing;
            missing.key = key;
            throw missing;
        }
        return found->second;
    }

    void put(const versions::Entry &entry) override {
        const std::lock_guard<std::mutex> alone(alone_);
        kept_[entry.key] = entry.value;
    }

#ifdef NEW
    std::int32_t count() override { return static_cast<std::int32_t>(kept_.size()); }

    versions::Entries all() override { return {}; }
#endif
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Keeper keeper;
    versions::StoreClerk clerk(domain, argv[1], keeper);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
