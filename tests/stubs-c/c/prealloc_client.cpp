/* A client of ready.idl in C++: `client NAME` has results come to vectors and strings of its
 * own, which are as long as they were before. Prints how many pieces of memory each kind of call
 * has had, of the library's and of C++. */
#include <new>

#include "check.h"
#include "ready.hpp"

namespace ready = nearcall::idl::ready;

namespace {

constexpr int calls = 100;
constexpr std::uint32_t count_max = 2000;

unsigned long long got;

void *counted(std::size_t bytes) {
    got++;
    return std::malloc(bytes);
}

template <class F> void count(const char *name, F call) {
    constexpr std::uint32_t counts[] = {0, 1, 8, 150, count_max};
    call(count_max);
    const unsigned long long before = got;
    for (int i = 0; i < calls; i++) {
        call(counts[i % 5]);
    }
    std::printf("%s %llu\n", name, got - before);
}

void all(const ready::Shelf &shelf) {
    std::vector<std::int32_t> numbers;
    std::vector<std::uint8_t> octets;
    std::string text;
    count("numbers", [&](std::uint32_t many) {
        shelf.numbers(many, numbers);
        CHECK(numbers.size() == many && (many == 0 || numbers.back() == std::int32_t(many - 1)));
    });
    count("text", [&](std::uint32_t many) {
        shelf.text(many, text);
        CHECK(text == std::string_view(text.data(), many) && std::strlen(text.c_str()) == many);
    });
    count("octets", [&](std::uint32_t many) {
        shelf.octets(many, octets);
        CHECK(octets.size() == many && (many == 0 || octets.back() == std::uint8_t(many - 1)));
    });
    count("lent", [&](std::uint32_t many) {
        shelf.lent(many, octets);
        CHECK(octets.size() == many && (many == 0 || octets.back() == std::uint8_t(many - 1)));
    });
    count("given", [&](std::uint32_t many) {
        shelf.given(many, numbers);
        CHECK(numbers.size() == many && (many == 0 || numbers.back() == std::int32_t(many - 1)));
    });
    count("title", [&](std::uint32_t many) {
        shelf.title(many, numbers, text);
        CHECK(text == std::string_view(text.data(), many) && std::strlen(text.c_str()) == many);
        CHECK(numbers.size() == many);
    });
    count("page", [&](std::uint32_t many) {
        shelf.page(many, octets);
        CHECK(octets.size() == many && (many == 0 || octets.back() == std::uint8_t(many - 1)));
    });
    std::vector<ready::Edge> edges;
    std::vector<ready::Book> books;
    std::vector<ready::Kind> kinds;
    count("edges", [&](std::uint32_t many) {
        shelf.edges(many, edges);
        CHECK(edges.size() == many && (many == 0 || edges.back().width == std::int32_t(many - 1)));
    });
    count("books", [&](std::uint32_t many) {
        shelf.books(many, books);
        CHECK(books.size() == many);
        for (std::uint32_t i = 0; i < many; i++) {
            CHECK(books[i].is_lent == (i % 2 == 1) && books[i].kind == ready::Kind(i % 3));
            CHECK(books[i].shelf == 1 + i % 99 && books[i].weight == i / 2.0);
        }
    });
    count("kinds", [&](std::uint32_t many) {
        shelf.kinds(many, kinds);
        CHECK(kinds.size() == many && (many == 0 || kinds.front() == ready::Kind::LEATHER));
    });
    count("made", [&](std::uint32_t many) { CHECK(shelf.made(many).size() == many); });
}

/* There is always room, unless there is no memory. */
void grows(const ready::Shelf &shelf) {
    std::vector<std::int32_t> numbers, made;
    std::string name("what was there before");
    shelf.both(3, name, made, numbers);
    CHECK(name == "aaa" && made == numbers && numbers == std::vector<std::int32_t>({0, 1, 2}));
    shelf.numbers(500000, numbers);
    CHECK(numbers.size() == 500000 && numbers[499999] == 499999);
    bool is_raised = false;
    try {
        shelf.numbers(1000000, numbers);
    } catch (const ready::Gone &gone) {
        is_raised = gone.code == 7;
    }
    CHECK(is_raised);
    is_raised = false;
    try {
        shelf.given(1000000, numbers);
    } catch (const ready::Gone &gone) {
        is_raised = gone.code == 7;
    }
    CHECK(is_raised);
    CHECK(numbers.empty());
    shelf.given(500001, numbers);
    CHECK(numbers.size() == 500001 && numbers[500000] == 500000);
    std::vector<ready::Book> books(7);
    is_raised = false;
    try {
        shelf.books(1000000, books);
    } catch (const ready::Gone &gone) {
        is_raised = gone.code == 7;
    }
    CHECK(is_raised && books.empty());
    shelf.few(2, numbers, books);
    CHECK(numbers.size() == 2 && books.size() == 2 && books[1].kind == ready::Kind::CLOTH);
    shelf.numbers(0, numbers);
    CHECK(numbers.empty());
}

} // namespace

void *operator new(std::size_t bytes) {
    void *memory = counted(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall_set_allocator(counted, std::free);
    nearcall::domain domain;
    {
        const ready::Shelf shelf(domain, argv[1]);
        all(shelf);
        grows(shelf);
    }
    domain.shut_down();
    return 0;
}
