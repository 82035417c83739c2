/* A server of either version of versions/planted.proto and grown.proto: `plants_server NAME`
 * exports it until its standard input ends. */
#ifdef GROWN
#include "grown.h"
#else
#include "planted.h"
#endif
#include "check.h"
#include "plants.h"
#include "serve.h"

static garden_Leaf leaf(int32_t length) {
    garden_Leaf made;
    memset(&made, 0, sizeof made);
    made.length = length;
#ifdef GROWN
    made.colour = nearcall_copy_text("blue");
#endif
    return made;
}

/* What came, in words. */
static char *told(const garden_Plant *plant) {
    char text[200];
    const char *home = plant->home._d == 8 ? plant->home._u.town : "-";
    int length;
#ifdef GROWN
    home = plant->home._d == 15 ? "forest" : home;
#endif
    CHECK(plant->leaves._length == 2 && plant->labelled._length == 1 && plant->place._d == 6);
    length = snprintf(text, sizeof text, "%s %d %d %d,%d %s=%d %s %s", plant->name, (int)plant->kind,
                      (int)plant->largest->length, (int)plant->leaves._buffer[0].length,
                      (int)plant->leaves._buffer[1].length, plant->labelled._buffer[0].key,
                      (int)plant->labelled._buffer[0].value.length, plant->place._u.bed, home);
#ifdef GROWN
    char age[20] = "-";
    if (plant->age != NULL) {
        snprintf(age, sizeof age, "%u", (unsigned)*plant->age);
    }
    snprintf(text + length, sizeof text - (size_t)length, " %s|%s|%s %u %s %s",
             plant->largest->colour, plant->leaves._buffer[1].colour,
             plant->labelled._buffer[0].value.colour, (unsigned)plant->kinds._length, age,
             plant->served._d == 12 ? plant->served._u.dish : "-");
    CHECK(plant->parent == NULL);
#endif
    CHECK(length > 0);
    return nearcall_copy_text(text);
}

static garden_Plant answer(const garden_Plant *request) {
    garden_Plant plant;
    memset(&plant, 0, sizeof plant);
    plant.name = told(request);
    plant.kind = (garden_Kind)GIVEN;
    plant.largest = (garden_Leaf *)nearcall_allocate(sizeof *plant.largest);
    *plant.largest = leaf(9);
    plant.leaves._length = 1;
    plant.leaves._buffer = (garden_Leaf *)nearcall_allocate(sizeof *plant.leaves._buffer);
    plant.leaves._buffer[0] = leaf(8);
    plant.labelled._length = 1;
    plant.labelled._buffer =
        (nearcall_pair_text_garden_Leaf *)nearcall_allocate(sizeof *plant.labelled._buffer);
    plant.labelled._buffer[0].key = nearcall_copy_text("z");
    plant.labelled._buffer[0].value = leaf(6);
    plant.place._d = 7;
    plant.place._u.pot = leaf(7);
#ifdef GROWN
    plant.kinds._length = 1;
    plant.kinds._buffer = (garden_Kind *)nearcall_allocate(sizeof *plant.kinds._buffer);
    plant.kinds._buffer[0] = garden_HERB;
    plant.age = (uint32_t *)nearcall_allocate(sizeof *plant.age);
    *plant.age = 1;
    plant.served._d = 13;
    plant.served._u.shade = true;
    plant.home._d = 15;
    plant.home._u.forest = leaf(4);
#else
    plant.home._d = 8;
    plant.home._u.town = nearcall_copy_text("Hull");
#endif
    return plant;
}

static garden_Plant keep(void *self, const garden_Plant *request, nearcall_environment *env) {
    (void)self;
    (void)env;
    return answer(request);
}

typedef struct watched {
    garden_Plant plants[2];
    int given;
} watched;

static bool next(void *self, garden_Plant *item, nearcall_environment *env) {
    watched *own = (watched *)self;
    (void)env;
    if (own->given == 2) {
        return false;
    }
    *item = own->plants[own->given++];
    return true;
}

static void release_watched(void *self) {
    watched *own = (watched *)self;
    while (own->given < 2) {
        nearcall_free_garden_Plant(&own->plants[own->given++]);
    }
    nearcall_free(own);
}

static nearcall_items_garden_Garden_Watch watch(void *self, const garden_Plant *request,
                                                nearcall_environment *env) {
    watched *made = (watched *)nearcall_allocate(sizeof *made);
    nearcall_items_garden_Garden_Watch items = {made, release_watched, next};
    (void)self;
    (void)env;
    made->plants[0] = answer(request);
    made->plants[1] = answer(request);
    made->given = 0;
    return items;
}

int main(int argc, char **argv) {
    static const nearcall_server_garden_Garden server = {NULL, keep, watch};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2 && domain != NULL);
    clerk = nearcall_export_garden_Garden(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
