// Does with a server in C++ what somebody new to it would.
#include <cstdio>
#include <optional>
#include <string>
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

} // namespace

int main() {
    nearcall::domain domain;
    Files files;
    careless::FilesClerk clerk(domain, "files", files);
    nearcall::orderly_end end(domain);
    call(careless::Files(domain, "files"));
    std::puts("done");
}
