/* A server of either version of versions/planted.proto and grown.proto in C++: as
 * plants_server.c. */
#ifdef GROWN
#include "grown.hpp"
#else
#include "planted.hpp"
#endif
#include "check.h"
#include "plants.h"
#include "serve.h"

using namespace nearcall::idl::garden;

namespace {

Leaf leaf(std::int32_t length) {
    Leaf made;
    made.length = length;
#ifdef GROWN
    made.colour = "blue";
#endif
    return made;
}

/* What came, in words. */
std::string told(const Plant &plant) {
    CHECK(plant.leaves.size() == 2 && plant.labelled.size() == 1 && plant.place._d == 6);
    const auto &labelled = *plant.labelled.begin();
    std::string text = plant.name + " " + std::to_string(static_cast<int>(plant.kind)) + " " +
                       std::to_string(plant.largest->length) + " " +
                       std::to_string(plant.leaves[0].length) + "," +
                       std::to_string(plant.leaves[1].length) + " " + labelled.first + "=" +
                       std::to_string(labelled.second.length) + " " + std::get<1>(plant.place._u) +
                       " ";
#ifdef GROWN
    CHECK(!plant.parent);
    text += plant.home._d == 15 ? "forest" : plant.home._d == 8 ? std::get<1>(plant.home._u) : "-";
    text += " " + plant.largest->colour + "|" + plant.leaves[1].colour + "|" +
            labelled.second.colour + " " + std::to_string(plant.kinds.size()) + " " +
            (plant.age ? std::to_string(*plant.age) : "-") + " " +
            (plant.served._d == 12 ? std::get<1>(plant.served._u) : "-");
#else
    text += plant.home._d == 8 ? std::get<1>(plant.home._u) : "-";
#endif
    return text;
}

Plant answer(const Plant &request) {
    Plant plant;
    plant.name = told(request);
    plant.kind = static_cast<Kind>(GIVEN);
    plant.largest = leaf(9);
    plant.leaves = {leaf(8)};
    plant.labelled["z"] = leaf(6);
    plant.place._d = 7;
    plant.place._u.emplace<2>(leaf(7));
#ifdef GROWN
    plant.kinds = {Kind::HERB};
    plant.age = 1;
    plant.served._d = 13;
    plant.served._u.emplace<2>(true);
    plant.home._d = 15;
    plant.home._u.emplace<2>(leaf(4));
#else
    plant.home._d = 8;
    plant.home._u.emplace<1>("Hull");
#endif
    return plant;
}

struct Watched : nearcall::items<Plant> {
    Plant plant;
    int given = 0;

    bool next(Plant &item) override {
        item = plant;
        return given++ < 2;
    }
};

struct Keeper : GardenServer {
    Plant Keep(const Plant &request) override { return answer(request); }

    std::unique_ptr<nearcall::items<Plant>> Watch(const Plant &request) override {
        auto made = std::make_unique<Watched>();
        made->plant = answer(request);
        return made;
    }
};

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    nearcall::domain domain;
    Keeper keeper;
    GardenClerk clerk(domain, argv[1], keeper);
    nearcall::orderly_end end(domain);
    until_input_ends();
    return 0;
}
