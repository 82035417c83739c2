/* A client of cross.idl: `client NAME` calls everything there is and looks at what comes back. */
#include "check.h"
#include "cross.h"

static nearcall_environment env;

#define CHECK_RETURNED()                                                                   \
    do {                                                                                   \
        if (env.outcome != NEARCALL_RETURNED) {                                            \
            fprintf(stderr, "%s:%d: %u %s\n", __FILE__, __LINE__, env.outcome, env.message); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static void words(const cross_Cross *cross) {
    uint8_t small = 41;
    cross_Rights rights = cross_Rights_READ;
    uint64_t big = 0;
    cross_Color color = cross_Cross_words(cross, cross_RED, true, 'a', 0x20ac, 1.5f, &small,
                                          &rights, &big, &env);
    CHECK_RETURNED();
    CHECK(color == cross_BLUE);
    CHECK(small == 42);
    CHECK(rights == (cross_Rights_READ | cross_Rights_OWN));
    CHECK(big == (0x20acull << 32) + 'a' + 3);
    cross_Cross_words(cross, (cross_Color)3, true, 'a', 0x20ac, 1.5f, &small, &rights, &big, &env);
    CHECK(env.outcome == NEARCALL_USAGE && env.ran == NEARCALL_RAN_NO);
    CHECK(strcmp(env.message, "color is 3, allowed is RED (0), GREEN (1) or BLUE (7)") == 0);
    cross_Cross_words(cross, (cross_Color)-1, true, 'a', 0x20ac, 1.5f, &small, &rights, &big, &env);
    CHECK(strcmp(env.message, "color is -1, allowed is RED (0), GREEN (1) or BLUE (7)") == 0);
    cross_Cross_words(cross, cross_RED, true, 'a', 0xd800, 1.5f, &small, &rights, &big, &env);
    CHECK(env.outcome == NEARCALL_USAGE);
    CHECK(strcmp(env.message, "wide is 0xd800, allowed is a character of Unicode") == 0);
    CHECK(small == 42 && big == 0);
}

static void texts(const cross_Cross *cross) {
    char *text = cross_Cross_greet(cross, "world", &env);
    CHECK_RETURNED();
    CHECK(strcmp(text, "hello, world") == 0);
    nearcall_free(text);
    text = cross_Cross_greet(cross, "nobody", &env);
    CHECK(text == NULL && env.outcome == NEARCALL_RAISED);
    CHECK(nearcall_raised_cross_Gone(&env) == NULL);
    CHECK(strcmp(nearcall_raised_cross_Refused(&env)->why, "not him") == 0);
    CHECK(nearcall_raised_cross_Refused(&env)->code == 7);
    nearcall_environment_release(&env);
    text = cross_Cross_greet(cross, "gone", &env);
    CHECK(text == NULL && nearcall_raised_cross_Gone(&env) != NULL);
    nearcall_environment_release(&env);
    text = cross_Cross_greet(cross, "longer than sixteen", &env);
    CHECK(text == NULL && env.outcome == NEARCALL_USAGE);
    CHECK(strcmp(env.message, "who has 19 bytes or elements, its limit is 16") == 0);
    text = cross_Cross_greet(cross, "\xff", &env);
    CHECK(text == NULL && env.outcome == NEARCALL_USAGE);
    CHECK(strcmp(env.message, "who is not UTF-8 at byte 0") == 0);
}

static void sequences(const cross_Cross *cross) {
    int32_t some[3] = {1, -2, 1 << 30};
    cross_Numbers numbers = {3, some};
    cross_Octets bytes = {2, nearcall_allocate(2)};
    char *text = nearcall_copy_text("what");
    cross_Numbers all;
    bytes._buffer[0] = 0;
    bytes._buffer[1] = 0xf0;
    all = cross_Cross_doubled(cross, &numbers, &bytes, &text, &env);
    CHECK_RETURNED();
    CHECK(all._length == 3 && all._buffer[1] == -4 && all._buffer[2] == INT32_MIN);
    CHECK(bytes._length == 2 && bytes._buffer[0] == 0xff && bytes._buffer[1] == 0x0f);
    CHECK(strcmp(text, "what!") == 0);
    nearcall_free_cross_Numbers(&all);
    numbers._length = 1001;
    all = cross_Cross_doubled(cross, &numbers, &bytes, &text, &env);
    CHECK(env.outcome == NEARCALL_USAGE && all._length == 0);
    CHECK(strcmp(text, "what!") == 0);
    nearcall_free_cross_Octets(&bytes);
    nearcall_free(text);
}

static void structs(const cross_Cross *cross) {
    cross_Point point = {1, 5.0};
    cross_Grid grid = {{{1, 2, 3}, {4, 5, 6}}};
    cross_Grid turned;
    point = cross_Cross_move(cross, &point, &grid, &turned, &env);
    CHECK_RETURNED();
    CHECK(point.x == 2 && point.y > 2.4 && point.y < 2.6);
    CHECK(turned._at[0][0] == 6 && turned._at[1][2] == 1);
}

static void people(const cross_Cross *cross) {
    char *others[2] = {(char *)"b", (char *)"\xc3\xa9"};
    nearcall_pair_text_int32 ages[1] = {{(char *)"b", 41}};
    int32_t shoe = 44;
    cross_Person person = {(char *)"a", {2, others}, {1, ages}, &shoe, {0}, cross_BLUE};
    cross_Choice choice = {0};
    cross_Person met;
    choice._d = 3;
    choice._u.text = nearcall_copy_text("three");
    person.choice._d = -1;
    person.choice._u.otherwise = 0.5;
    met = cross_Cross_meet(cross, &person, &choice, &env);
    CHECK_RETURNED();
    CHECK(strcmp(met.name, "a") == 0 && met.others._length == 2 && met.color == cross_BLUE);
    CHECK(strcmp(met.others._buffer[1], "\xc3\xa9") == 0);
    CHECK(met.ages._length == 1 && met.ages._buffer[0].value == 42);
    CHECK(met.shoe != NULL && *met.shoe == 45);
    CHECK(met.choice._d == 3 && strcmp(met.choice._u.text, "three") == 0);
    CHECK(choice._d == 2 && choice._u.number == 22);
    nearcall_free_cross_Person(&met);
    person.name = (char *)"nine bytes";
    met = cross_Cross_meet(cross, &person, &choice, &env);
    CHECK(env.outcome == NEARCALL_USAGE && met.name == NULL);
    CHECK(strcmp(env.message, "name has 10 bytes or elements, its limit is 8") == 0);
    nearcall_free_cross_Choice(&choice);
}

static void trees(const cross_Cross *cross) {
    cross_Tree leaves[2] = {{1, {0, NULL}}, {2, {0, NULL}}};
    cross_Tree tree = {7, {2, leaves}};
    cross_Tree grown = cross_Cross_grow(cross, &tree, &env);
    CHECK_RETURNED();
    CHECK(grown.value == 8 && grown.below._length == 1 && grown.below._buffer[0].value == 2);
    nearcall_free_cross_Tree(&grown);
}

static void ranges(const cross_Cross *cross) {
    int32_t some[2] = {20, 30};
    nearcall_sequence_int32 parts = {2, some};
    CHECK(cross_Cross_share(cross, 50, &parts, &env) == 100);
    CHECK_RETURNED();
    cross_Cross_share(cross, 101, &parts, &env);
    CHECK(env.outcome == NEARCALL_USAGE);
    CHECK(strcmp(env.message, "part is 101, allowed is 0 to 100") == 0);
    some[1] = -1;
    cross_Cross_share(cross, 50, &parts, &env);
    CHECK(env.outcome == NEARCALL_USAGE);
    CHECK(strcmp(env.message, "parts is -1, allowed is 0 to 100") == 0);
    some[1] = 31;
    cross_Cross_share(cross, 50, &parts, &env);
    CHECK(env.outcome == NEARCALL_RESULTS_REFUSED && env.ran == NEARCALL_RAN_YES);
}

static void octets(const cross_Cross *cross) {
    const uint32_t many = 3u << 20;
    cross_Octets data = {many, nearcall_allocate(many)};
    cross_Octets written;
    char *after;
    memset(data._buffer, 1, many);
    for (int round = 0; round < 2; round++) {
        CHECK(cross_Cross_weigh(cross, &data, &env) == many);
        CHECK_RETURNED();
    }
    data._length = 3;
    memcpy(data._buffer, "abc", 3);
    after = cross_Cross_change(cross, &data, &written, &env);
    CHECK_RETURNED();
    CHECK(strcmp(after, "turned") == 0);
    CHECK(written._length == 3 && memcmp(written._buffer, "cba", 3) == 0);
    nearcall_free(after);
    nearcall_free_cross_Octets(&written);
    data._length = 0;
    after = cross_Cross_change(cross, &data, &written, &env);
    CHECK_RETURNED();
    CHECK(written._length == 0);
    nearcall_free(after);
    nearcall_free_cross_Octets(&written);
    nearcall_free_cross_Octets(&data);
}

static void oneway(const cross_Cross *cross) {
    const uint64_t before = cross_Cross_posted(cross, &env);
    uint64_t seen = before;
    CHECK_RETURNED();
    cross_Cross_post(cross, 5, &env);
    CHECK_RETURNED();
    while (seen == before) {
        seen = cross_Cross_posted(cross, &env);
        CHECK_RETURNED();
    }
    CHECK(seen == before + 5);
}

int main(int argc, char **argv) {
    nearcall_domain *domain = nearcall_domain_new(&env);
    cross_Cross *cross;
    CHECK(argc == 2);
    CHECK(domain != NULL);
    CHECK(nearcall_import_cross_Cross(domain, "no/such/name", &env) == NULL);
    CHECK(env.outcome == NEARCALL_NOT_BOUND);
    cross = nearcall_import_cross_Cross(domain, argv[1], &env);
    if (cross == NULL) {
        fprintf(stderr, "%s\n", env.message);
        return 1;
    }
    cross_Cross_null(cross, &env);
    CHECK_RETURNED();
    CHECK(cross_Cross_add(cross, 2, -3, &env) == -1);
    CHECK_RETURNED();
    words(cross);
    texts(cross);
    sequences(cross);
    structs(cross);
    people(cross);
    trees(cross);
    ranges(cross);
    octets(cross);
    oneway(cross);
    nearcall_release_cross_Cross(cross);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    printf("%u checks\n", checks);
    return 0;
}
