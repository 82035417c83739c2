/* A client of either version of versions/planted.proto and grown.proto in C++: as
 * plants_client.c. */
#ifdef GROWN
#include "grown.hpp"
#else
#include "planted.hpp"
#endif
#include "check.h"
#include "plants.h"

using namespace nearcall::idl::garden;

namespace {

void judge(const Plant &plant, bool is_grown_there) {
    char told[100];
#ifdef GROWN
    std::snprintf(told, sizeof told, is_grown_there ? TOLD_ALL : TOLD, is_grown_there ? GIVEN : 0,
                  is_grown_there ? "forest" : "-");
    const std::string colour = is_grown_there ? "blue" : "";
    CHECK(plant.kind == (is_grown_there ? Kind::SHRUB : Kind::TREE));
    CHECK(plant.largest->colour == colour && plant.leaves[0].colour == colour);
    CHECK(plant.labelled.at("z").colour == colour);
    CHECK(plant.kinds.size() == (is_grown_there ? 1u : 0u) && !plant.parent);
    CHECK(plant.age == (is_grown_there ? std::optional<std::uint32_t>(1) : std::nullopt));
    CHECK(plant.served._d == (is_grown_there ? 13u : 0u));
    CHECK(is_grown_there ? plant.home._d == 15 && std::get<2>(plant.home._u).length == 4
                         : plant.home._d == 8 && std::get<1>(plant.home._u) == "Hull");
#else
    std::snprintf(told, sizeof told, is_grown_there ? TOLD_MISSING : TOLD, GIVEN, "York");
    CHECK(is_grown_there ? plant.home._d == 0 && plant.home._u.index() == 0
                         : plant.home._d == 8 && std::get<1>(plant.home._u) == "Hull");
    CHECK(plant.kind == (is_grown_there ? Kind::KIND_UNSPECIFIED : Kind::TREE));
#endif
    CHECK(plant.name == told);
    CHECK(plant.largest->length == 9);
    CHECK(plant.leaves.size() == 1 && plant.leaves[0].length == 8);
    CHECK(plant.labelled.size() == 1 && plant.labelled.at("z").length == 6);
    CHECK(plant.place._d == 7 && std::get<2>(plant.place._u).length == 7);
}

Leaf leaf(std::int32_t length) {
    Leaf made;
    made.length = length;
#ifdef GROWN
    made.colour = "red";
#endif
    return made;
}

void call(const Garden &garden, bool is_grown_there) {
    Plant plant;
    plant.name = "fern";
    plant.kind = static_cast<Kind>(GIVEN);
    plant.largest = leaf(5);
    plant.leaves = {leaf(1), leaf(2)};
    plant.labelled["a"] = leaf(3);
    plant.place._d = 6;
    plant.place._u.emplace<1>("east");
#ifdef GROWN
    plant.kinds = {Kind::HERB};
    plant.age = 7;
    plant.served._d = 12;
    plant.served._u.emplace<1>("soup");
    plant.home._d = 15;
    plant.home._u.emplace<2>(leaf(4));
#else
    plant.home._d = 8;
    plant.home._u.emplace<1>("York");
#endif
    judge(garden.Keep(plant), is_grown_there);
    int count = 0;
    for (const Plant &item : garden.Watch(plant)) {
        judge(item, is_grown_there);
        count++;
    }
    CHECK(count == 2);
    /* No number but those of the file: who has a field of that number would look for it. */
    plant.home = {};
    plant.home._d = 99;
    std::string said;
    try {
        garden.Keep(plant);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE);
        said = error.what();
    }
    CHECK(said.find("discriminator is 99, allowed is 0") != std::string::npos);
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 3);
    nearcall::domain domain;
    const std::string there = argv[2];
    if (there == "pruned") {
        std::string said;
        try {
            const Garden garden(domain, argv[1]);
        } catch (const nearcall::call_error &error) {
            CHECK(error.outcome == NEARCALL_NOT_BOUND);
            said = error.what();
        }
        CHECK(said.find("`garden::Leaf`, whose member 1 differs there") != std::string::npos);
    } else {
        const Garden garden(domain, argv[1]);
        call(garden, there == "grown");
    }
    domain.shut_down();
    return 0;
}
