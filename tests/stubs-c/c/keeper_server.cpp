/* A server of vault.idl in C++: exports it until its standard input ends. */
#include "open.h"
#include "serve.h"
#include "vault.hpp"

namespace vault = nearcall::idl::vault;
using nearcall::descriptor;

namespace {

class Keeper : public vault::VaultServer {
  public:
    explicit Keeper(const nearcall::domain &domain) : domain_(domain) {}

  private:
    const nearcall::domain &domain_;

    descriptor swap(descriptor file, const std::string &text, descriptor link,
                    descriptor &same) override {
        if (text == "busy") {
            vault::Busy busy;
            busy.holder = 7;
            throw busy;
        }
        same = std::move(file);
        return link;
    }

    std::optional<descriptor> either(std::optional<descriptor> link, descriptor file,
                                     std::optional<descriptor> &same) override {
        if (!link) {
            same = std::move(file);
        }
        return link;
    }

    std::uint64_t measure(descriptor segment) override {
        struct stat status;
        CHECK(fstat(segment.get(), &status) == 0);
        return static_cast<std::uint64_t>(status.st_size);
    }

    descriptor made(const std::string &text) override {
        return descriptor(memory_file(text.data(), text.size()));
    }

    descriptor wrong() override {
        int ends[2];
        CHECK(pipe(ends) == 0);
        close_end(ends[1]);
        return descriptor(ends[0]);
    }

    std::uint32_t ask(descriptor introduction) override {
        try {
            return vault::Vault(domain_, std::move(introduction)).open_count();
        } catch (const nearcall::call_error &) {
            return 0;
        }
    }

    void close(descriptor) override {}

    std::uint32_t open_count() override { return ::open_count(); }

    static void close_end(int end) { descriptor gone(end); }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Keeper keeper(domain);
    vault::VaultClerk clerk(domain, argv[1], keeper);
    until_input_ends();
    domain.shut_down();
    return 0;
}
