/* A client of either version of versions/planted.proto and grown.proto:
 * `plants_client NAME planted|grown|pruned`, by what the server has. */
#ifdef GROWN
#include "grown.h"
#else
#include "planted.h"
#endif
#include "check.h"
#include "plants.h"

static nearcall_environment env;

/* What a server of a version returns, with what the other one does not know, or did not send. */
static void judge(garden_Plant *plant, bool is_grown_there) {
    char told[100];
#ifdef GROWN
    snprintf(told, sizeof told, is_grown_there ? TOLD_ALL : TOLD, is_grown_there ? GIVEN : 0,
             is_grown_there ? "forest" : "-");
    CHECK(plant->kind == (is_grown_there ? garden_SHRUB : garden_TREE));
    CHECK(strcmp(plant->largest->colour, is_grown_there ? "blue" : "") == 0);
    CHECK(strcmp(plant->leaves._buffer[0].colour, is_grown_there ? "blue" : "") == 0);
    CHECK(strcmp(plant->labelled._buffer[0].value.colour, is_grown_there ? "blue" : "") == 0);
    CHECK(plant->kinds._length == (is_grown_there ? 1 : 0) && plant->parent == NULL);
    CHECK(is_grown_there ? *plant->age == 1 : plant->age == NULL);
    CHECK(plant->served._d == (is_grown_there ? 13 : 0));
    CHECK(is_grown_there ? plant->home._d == 15 && plant->home._u.forest.length == 4
                         : plant->home._d == 8 && strcmp(plant->home._u.town, "Hull") == 0);
#else
    snprintf(told, sizeof told, is_grown_there ? TOLD_MISSING : TOLD, GIVEN, "York");
    CHECK(is_grown_there ? plant->home._d == 0
                         : plant->home._d == 8 && strcmp(plant->home._u.town, "Hull") == 0);
    CHECK(plant->kind == (is_grown_there ? garden_KIND_UNSPECIFIED : garden_TREE));
#endif
    CHECK(strcmp(plant->name, told) == 0);
    CHECK(plant->largest->length == 9);
    CHECK(plant->leaves._length == 1 && plant->leaves._buffer[0].length == 8);
    CHECK(plant->labelled._length == 1 && plant->labelled._buffer[0].value.length == 6);
    CHECK(plant->place._d == 7 && plant->place._u.pot.length == 7);
    nearcall_free_garden_Plant(plant);
}

static void call(const garden_Garden *garden, bool is_grown_there) {
    char name[] = "fern", east[] = "east", a[] = "a";
    garden_Leaf largest = {0}, leaves[2] = {{0}, {0}};
    nearcall_pair_text_garden_Leaf labelled = {0};
    garden_Plant plant = {0}, kept;
    nearcall_feed_garden_Garden_Watch *feed;
    int count = 0;
    largest.length = 5;
    leaves[0].length = 1;
    leaves[1].length = 2;
    labelled.key = a;
    labelled.value.length = 3;
    plant.name = name;
    plant.kind = (garden_Kind)GIVEN;
    plant.largest = &largest;
    plant.leaves._length = 2;
    plant.leaves._buffer = leaves;
    plant.labelled._length = 1;
    plant.labelled._buffer = &labelled;
    plant.place._d = 6;
    plant.place._u.bed = east;
#ifdef GROWN
    char red[] = "red", soup[] = "soup";
    garden_Kind kind = garden_HERB;
    uint32_t age = 7;
    largest.colour = leaves[0].colour = leaves[1].colour = labelled.value.colour = red;
    plant.kinds._length = 1;
    plant.kinds._buffer = &kind;
    plant.age = &age;
    plant.served._d = 12;
    plant.served._u.dish = soup;
    plant.home._d = 15;
    plant.home._u.forest = largest;
#else
    char town[] = "York";
    plant.home._d = 8;
    plant.home._u.town = town;
#endif
    kept = garden_Garden_Keep(garden, &plant, &env);
    CHECK(env.outcome == NEARCALL_RETURNED);
    judge(&kept, is_grown_there);
    feed = garden_Garden_Watch(garden, &plant, &env);
    CHECK(feed != NULL);
    while (nearcall_next_garden_Garden_Watch(feed, &kept, &env)) {
        judge(&kept, is_grown_there);
        count++;
    }
    CHECK(env.outcome == NEARCALL_RETURNED && count == 2);
    nearcall_release_garden_Garden_Watch(feed);
    /* No number but those of the file: who has a field of that number would look for it. */
    plant.home._d = 99;
    garden_Garden_Keep(garden, &plant, &env);
    CHECK(env.outcome == NEARCALL_USAGE);
    CHECK(strstr(env.message, "discriminator is 99, allowed is 0") != NULL);
    nearcall_environment_release(&env);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    garden_Garden *garden;
    CHECK(argc == 3 && domain != NULL);
    garden = nearcall_import_garden_Garden(domain, argv[1], &env);
    if (strcmp(argv[2], "pruned") == 0) {
        CHECK(garden == NULL && env.outcome == NEARCALL_NOT_BOUND);
        CHECK(strstr(env.message, "`garden::Leaf`, whose member 1 differs there") != NULL);
    } else {
        CHECK(garden != NULL);
        call(garden, strcmp(argv[2], "grown") == 0);
        nearcall_release_garden_Garden(garden);
    }
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
