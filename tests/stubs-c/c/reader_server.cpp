/* A server of reading.idl in C++, where new counts as the allocator does: `server NAME` exports it
 * until its standard input ends. */
#include <cstdlib>
#include <numeric>


#include "counting.h"
#include "serve.h"
#include "reading.hpp"

namespace reading = nearcall::idl::reading;

/* Not inlined: a compiler that sees both sides warns of a mismatch that there is not. */
__attribute__((noinline)) void *operator new(std::size_t bytes) {
    void *memory = std::malloc(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    __atomic_fetch_add(&counting_got, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&counting_given, 1, __ATOMIC_SEQ_CST);
    return memory;
}

__attribute__((noinline)) void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { operator delete(memory); }

namespace {

std::uint64_t sum_of(const std::string &text) {
    return std::accumulate(text.begin(), text.end(), std::uint64_t{0});
}

class Own : public reading::ReaderServer {
    std::uint64_t text(const std::string &one, const std::string &other) override {
        return sum_of(one) + sum_of(other);
    }

    std::uint64_t numbers(const std::vector<std::int32_t> &all) override {
        return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    }

    std::uint64_t entries(const reading::Entries &all) override {
        std::uint64_t sum = 0;
        for (const auto &one : all) {
            sum += sum_of(one.name) + static_cast<std::uint64_t>(one.mark.value_or(0));
            sum += static_cast<std::uint64_t>(
                std::accumulate(one.values.begin(), one.values.end(), 0.0));
        }
        return sum;
    }

    std::uint64_t ages(const std::map<std::string, std::int32_t> &ages) override {
        std::uint64_t sum = 0;
        for (const auto &[name, age] : ages) {
            sum += sum_of(name) + static_cast<std::uint64_t>(age);
        }
        return sum;
    }

    reading::Choice turned(const reading::Choice &one) override {
        reading::Choice made;
        made._d = 2;
        made._u.emplace<2>(one._d == 1 ? static_cast<std::int32_t>(sum_of(std::get<1>(one._u)))
                                       : std::get<2>(one._u) + 1);
        return made;
    }

    std::uint64_t perhaps(const reading::Perhaps &one) override {
        /* Not what a call before had there. */
        CHECK((one._d == 1) == (one._u.index() == 1));
        return one._d == 1 ? sum_of(std::get<1>(one._u)) : 0;
    }

    std::uint64_t nested(std::uint32_t depth, const std::string &own) override {
        std::uint64_t rest = 0;
        if (depth > 0) {
            rest = itself->nested(depth - 1, others.at(depth));
        }
        return rest + sum_of(own);
    }

    std::uint64_t had() override { return __atomic_load_n(&counting_got, __ATOMIC_SEQ_CST); }

  public:
    const std::array<std::string, 4> others{std::string(63, 'a'), std::string(63, 'b'),
                                            std::string(63, 'c'), std::string(63, 'd')};
    /* This domain's own binding to what it exports. */
    std::unique_ptr<reading::Reader> itself;
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall_set_allocator(counting_allocate, counting_free);
    {
        nearcall::domain domain;
        Own own;
        reading::ReaderClerk clerk(domain, argv[1], own);
        own.itself = std::make_unique<reading::Reader>(domain, argv[1]);
        until_input_ends();
        own.itself.reset();
        domain.shut_down();
    }
    return counting_end(0);
}
