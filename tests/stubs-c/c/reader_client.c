/* A client of reading.idl: `client NAME` makes the same calls over and over, and prints for each
 * procedure how often the server has had memory in the round of them where that was least. */
#include "check.h"
#include "reading.h"

#define ROUNDS 40
#define CALLS 50

#define ENTRIES 30
#define NUMBERS 5000

static nearcall_environment env;

/* Text of so many of a character. */
static char *text_of(size_t count, char letter) {
    char *text = (char *)malloc(count + 1);
    CHECK(text != NULL);
    memset(text, letter, count);
    text[count] = 0;
    return text;
}

static void text(const reading_Reader *reader) {
    char *one = text_of(3000, 'a'), *other = text_of(70, 'b');
    CHECK(reading_Reader_text(reader, one, other, &env) == 3000 * 'a' + 70 * 'b');
    CHECK(reading_Reader_text(reader, "", NULL, &env) == 0);
    free(one);
    free(other);
}

static void numbers(const reading_Reader *reader) {
    static int32_t all[NUMBERS];
    const nearcall_sequence_int32 some = {NUMBERS, all}, none = {0, NULL};
    for (int32_t i = 0; i < NUMBERS; i++) {
        all[i] = i;
    }
    CHECK(reading_Reader_numbers(reader, &some, &env) == (uint64_t)NUMBERS * (NUMBERS - 1) / 2);
    CHECK(reading_Reader_numbers(reader, &none, &env) == 0);
}

static void entries(const reading_Reader *reader) {
    reading_Entry all[ENTRIES];
    const reading_Entries some = {ENTRIES, all};
    double values[4] = {1, 2, 3, 4};
    int32_t mark = 7;
    char *name = text_of(40, 'c');
    for (uint32_t i = 0; i < ENTRIES; i++) {
        all[i] = (reading_Entry){name, {i % 5, values}, i % 2 == 0 ? &mark : NULL};
    }
    /* 0, 1, 3, 6 and 10 of each five. */
    CHECK(reading_Reader_entries(reader, &some, &env) ==
          ENTRIES * 40 * 'c' + ENTRIES / 5 * 20 + ENTRIES / 2 * 7);
    free(name);
}

static void ages(const reading_Reader *reader) {
    char one[] = "a name that no string has room for by itself", other[] = "b";
    nearcall_pair_text_int32 pairs[2] = {{one, 1}, {other, 2}};
    const nearcall_map_text_int32 both = {2, pairs};
    CHECK(reading_Reader_ages(reader, &both, &env) > 3);
}

static void turned(const reading_Reader *reader) {
    reading_Choice choice = {1, {.text = text_of(100, 'd')}};
    reading_Choice made = reading_Reader_turned(reader, &choice, &env);
    CHECK(made._d == 2 && made._u.number == 100 * 'd');
    free(choice._u.text);
}

/* One case after the other. */
static void changing(const reading_Reader *reader) {
    const reading_Choice choice = {2, {.number = 6}};
    char *text = text_of(100, 'e');
    const reading_Perhaps one = {1, {.text = text}}, none = {9, {NULL}};
    turned(reader);
    CHECK(reading_Reader_turned(reader, &choice, &env)._u.number == 7);
    CHECK(reading_Reader_perhaps(reader, &one, &env) == 100 * 'e');
    CHECK(reading_Reader_perhaps(reader, &none, &env) == 0);
    free(text);
}

static void nested(const reading_Reader *reader) {
    char *own = text_of(63, 'a');
    const uint64_t all = 63 * (uint64_t)('a' + 'b' + 'c' + 'd');
    CHECK(reading_Reader_nested(reader, 3, own, &env) == all);
    CHECK(env.outcome == NEARCALL_RETURNED);
    free(own);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*call)(const reading_Reader *);
    } all[] = {{"text", text},     {"numbers", numbers}, {"entries", entries}, {"ages", ages},
               {"turned", turned}, {"changing", changing}, {"nested", nested}};
    nearcall_domain *domain = nearcall_domain_new(&env);
    reading_Reader *reader;
    CHECK(argc == 2 && domain != NULL);
    reader = nearcall_import_reading_Reader(domain, argv[1], &env);
    CHECK(reader != NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t least = UINT64_MAX;
        for (int round = 0; round < ROUNDS && least > 0; round++) {
            const uint64_t before = reading_Reader_had(reader, &env);
            uint64_t had;
            for (int call = 0; call < CALLS; call++) {
                all[i].call(reader);
                CHECK(env.outcome == NEARCALL_RETURNED);
            }
            had = reading_Reader_had(reader, &env) - before;
            least = had < least ? had : least;
        }
        printf("%s %llu\n", all[i].name, (unsigned long long)least);
    }
    nearcall_release_reading_Reader(reader);
    nearcall_domain_release(domain);
    return 0;
}
