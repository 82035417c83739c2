/* A server of cross.idl: `server NAME` exports it until its standard input ends. */
#include "check.h"
#include "cross.h"
#include "serve.h"

static unsigned long long posted;

static void null_(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
}

static int32_t add(void *self, int32_t a, int32_t b, nearcall_environment *env) {
    (void)self;
    (void)env;
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static cross_Color words(void *self, cross_Color color, bool yes, char letter, uint32_t wide,
                         float ratio, uint8_t *small, cross_Rights *rights, uint64_t *big,
                         nearcall_environment *env) {
    (void)self;
    (void)env;
    *small = (uint8_t)(*small + (yes ? 1 : 0));
    *rights = (cross_Rights)(*rights | cross_Rights_OWN);
    *big = ((uint64_t)wide << 32) + (uint8_t)letter;
    *big += ratio >= 0 && ratio < 100 ? (uint64_t)(ratio * 2) : 0;
    return color == cross_RED ? cross_BLUE : cross_RED;
}

static char *greet(void *self, const char *who, nearcall_environment *env) {
    char text[32];
    (void)self;
    if (strcmp(who, "nobody") == 0) {
        cross_Refused refused = {nearcall_copy_text("not him"), 7};
        nearcall_raise_cross_Refused(env, refused);
        return NULL;
    }
    if (strcmp(who, "gone") == 0) {
        cross_Gone gone = {0};
        nearcall_raise_cross_Gone(env, gone);
        return NULL;
    }
    snprintf(text, sizeof text, "hello, %s", who);
    return nearcall_copy_text(text);
}

static cross_Numbers doubled(void *self, const cross_Numbers *numbers, cross_Octets *bytes,
                             char **text, nearcall_environment *env) {
    cross_Numbers all = {0, NULL};
    char *longer = (char *)nearcall_allocate(strlen(*text) + 2);
    (void)self;
    (void)env;
    /* Null is no memory: the caller then has nothing, which is its right answer for nothing. */
    all._buffer = (int32_t *)nearcall_allocate((numbers->_length + 1u) * sizeof(int32_t));
    CHECK(all._buffer != NULL && longer != NULL);
    for (; all._length < numbers->_length; all._length++) {
        all._buffer[all._length] = (int32_t)((uint32_t)numbers->_buffer[all._length] * 2u);
    }
    for (uint32_t i = 0; i < bytes->_length; i++) {
        bytes->_buffer[i] ^= 0xff;
    }
    strcpy(longer, *text);
    strcat(longer, "!");
    nearcall_free(*text);
    *text = longer;
    return all;
}

static cross_Point move(void *self, const cross_Point *point, const cross_Grid *grid,
                        cross_Grid *turned, nearcall_environment *env) {
    cross_Point moved = {point->x + 1, point->y / 2};
    (void)self;
    (void)env;
    for (int row = 0; row < 2; row++) {
        for (int column = 0; column < 3; column++) {
            turned->_at[1 - row][2 - column] = grid->_at[row][column];
        }
    }
    return moved;
}

/* A copy of text that is not null. */
static char *copy(const char *text) {
    char *made = nearcall_copy_text(text);
    CHECK(made != NULL);
    return made;
}

static cross_Person meet(void *self, const cross_Person *person, cross_Choice *choice,
                         nearcall_environment *env) {
    cross_Person met = {0};
    (void)self;
    (void)env;
    met.name = copy(person->name);
    met.others._length = person->others._length;
    met.others._buffer = (char **)nearcall_allocate((met.others._length + 1u) * sizeof(char *));
    for (uint32_t i = 0; i < met.others._length; i++) {
        met.others._buffer[i] = copy(person->others._buffer[i]);
    }
    met.ages._length = person->ages._length;
    met.ages._buffer = nearcall_allocate((met.ages._length + 1u) * sizeof *met.ages._buffer);
    for (uint32_t i = 0; i < met.ages._length; i++) {
        met.ages._buffer[i].key = copy(person->ages._buffer[i].key);
        met.ages._buffer[i].value = person->ages._buffer[i].value + 1;
    }
    if (person->shoe != NULL) {
        met.shoe = (int32_t *)nearcall_allocate(sizeof(int32_t));
        *met.shoe = *person->shoe + 1;
    }
    met.choice._d = choice->_d;
    if (choice->_d == 3) {
        met.choice._u.text = copy(choice->_u.text);
    } else {
        met.choice._u = choice->_u;
    }
    met.color = person->color;
    nearcall_free_cross_Choice(choice);
    choice->_d = 2;
    choice->_u.number = 22;
    return met;
}

static cross_Tree grow(void *self, const cross_Tree *tree, nearcall_environment *env) {
    cross_Tree grown = {tree->value + 1, {0, NULL}};
    (void)self;
    (void)env;
    grown.below._buffer = nearcall_allocate_zeroed(sizeof(cross_Tree));
    CHECK(grown.below._buffer != NULL);
    grown.below._length = 1;
    grown.below._buffer[0].value = (int32_t)tree->below._length;
    return grown;
}

static cross_Percent share(void *self, cross_Percent part,
                           const nearcall_sequence_int32 *parts, nearcall_environment *env) {
    cross_Percent sum = part;
    (void)self;
    (void)env;
    for (uint32_t i = 0; i < parts->_length; i++) {
        sum += parts->_buffer[i];
    }
    return sum; /* over 100 is refused */
}

static char *change(void *self, const nearcall_opaque *data, nearcall_served *written,
                    nearcall_environment *env) {
    uint8_t byte;
    (void)self;
    (void)env;
    for (size_t at = nearcall_opaque_bytes(data); at > 0; at--) {
        CHECK(nearcall_opaque_copy(data, at - 1, &byte, 1));
        CHECK(nearcall_room_put(written, &byte, 1));
    }
    CHECK(!nearcall_opaque_copy(data, nearcall_opaque_bytes(data), &byte, 1));
    return copy("turned");
}

static uint64_t weigh(void *self, const cross_Octets *data, nearcall_environment *env) {
    uint64_t sum = 0;
    (void)self;
    (void)env;
    for (uint32_t i = 0; i < data->_length; i++) {
        sum += data->_buffer[i];
    }
    return sum;
}

static void post(void *self, uint32_t number, nearcall_environment *env) {
    (void)self;
    (void)env;
    __atomic_fetch_add(&posted, number, __ATOMIC_SEQ_CST);
}

static uint64_t posted_(void *self, nearcall_environment *env) {
    (void)self;
    (void)env;
    return __atomic_load_n(&posted, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
    static const nearcall_server_cross_Cross server = {
        NULL, null_, add, words, greet, doubled, move, meet, grow, share, change, weigh, post,
        posted_,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2);
    CHECK(domain != NULL);
    clerk = nearcall_export_cross_Cross(domain, argv[1], &server, &env);
    if (clerk == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    serve(domain, clerk);
    return 0;
}
