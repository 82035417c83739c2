// Does with a server in C++ what somebody new to it would.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "careless.hpp"
#include "check.h"

namespace {

namespace careless = nearcall::idl::careless;

class Files : public careless::FilesServer {
  public:
    std::int64_t load(std::int32_t file, nearcall::room &data) override {
        CHECK(data.put("a", 1) && data.size() == 1);
        return data.read_at(file, 0, 63);
    }
    bool store(std::int32_t file, const nearcall::opaque &data) override {
        std::uint8_t two[2] = {0, 0};
        CHECK(data.copy_to(two, 1, 2) && two[0] == 2 && two[1] == 3);
        CHECK(!data.copy_to(two, 2, 2) && two[0] == 2);
        return data.write_at(file, 0);
    }
    void refuse(bool is_missing) override {
        if (is_missing) {
            throw careless::Missing{"it"};
        }
        throw careless::Refused("so", 3);
    }
    nearcall::descriptor open_file() override { throw careless::Missing(); }
};

void call(const careless::Files &files) {
    std::vector<std::uint8_t> data;
    CHECK(!files.store(-1, {1, 2, 3}));
    CHECK(files.load(-1, data) == -1 && data == std::vector<std::uint8_t>{'a'});
    std::FILE *own = std::fopen("/proc/self/cmdline", "r");
    CHECK(own != nullptr && files.load(fileno(own), data) > 0 && data.size() > 1);
    std::fclose(own);
    try {
        files.refuse(false);
        CHECK(false);
    } catch (const careless::Refused &refused) {
        CHECK(refused.why == "so" && refused.code == 3);
    }
    try {
        files.refuse(true);
        CHECK(false);
    } catch (const careless::Missing &missing) {
        CHECK(missing.name == "it");
    }
    try {
        files.open_file();
        CHECK(false);
    } catch (const careless::Missing &missing) {
        CHECK(missing.name.empty());
    }
}

/* A client that was moved from is none any more. */
void lack_client(careless::Files files) {
    const careless::Files other = std::move(files);
    try {
        files.store(3, {1});
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.ran == NEARCALL_RAN_NO);
        CHECK(std::strstr(error.what(), "the client is null") != nullptr);
    }
}

/* A domain with knobs: of two bindings that it serves at most one user alone has one. */
void turn_knobs() {
    nearcall::domain_options knobs;
    CHECK(knobs.bindings_max == 20000 && knobs.wait.yields_max == 16);
    knobs.bindings_max = 2;
    nearcall::domain domain(knobs);
    Files files;
    nearcall::export_options to;
    to.directory = std::string(std::getenv("XDG_RUNTIME_DIR")) + "/elsewhere";
    careless::FilesClerk clerk(domain, "knobs", files, to);
    nearcall::orderly_end end(domain);
    nearcall::import_options from;
    from.directory = to.directory;
    from.wait = knobs.wait;
    const careless::Files first(domain, "knobs", from);
    call(first);
    /* There is no room where the name is, and elsewhere no name. */
    for (const auto &options : {from, nearcall::import_options()}) {
        try {
            careless::Files(domain, "knobs", options);
            CHECK(false);
        } catch (const nearcall::call_error &error) {
            const bool is_found = !options.directory.empty();
            CHECK(error.outcome == NEARCALL_NOT_BOUND);
            CHECK((std::strstr(error.what(), "no room") != nullptr) == is_found);
        }
    }
}

void serve() {
    nearcall::domain domain;
    Files files;
    careless::FilesClerk clerk(domain, "files", files);
    nearcall::orderly_end end(domain);
    call(careless::Files(domain, "files"));
    lack_client(careless::Files(domain, "files"));
}

} // namespace

int main() {
    std::atomic<unsigned> bound(0), refused(0);
    CHECK(!nearcall::set_log(nullptr));
    const auto hear = [&](nearcall_level level, std::string_view line) {
        CHECK(level == NEARCALL_LOG_INFO && line.front() == '{' && line.back() == '}');
        bound += line.find("\"event\":\"bound\"") != line.npos;
        refused += line.find("\"event\":\"refused\"") != line.npos;
        throw 1;
    };
    CHECK(nearcall::set_log(hear) && !nearcall::set_log(hear));
    turn_knobs();
    serve();
    CHECK(bound == 3 && refused == 1);
    std::puts("done");
}
