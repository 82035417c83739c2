/* Ends where what it is sent is read as anything but what that says: `judge_pieces NAME` exports
 * it until its standard input ends. */
#include "check.h"
#include "pieces.h"
#include "serve.h"

/* Of at most so many bytes. */
typedef struct words {
    char text[200];
    size_t length;
} words;

static void say(words *told, const char *text) {
    const size_t length = strlen(text);
    CHECK(length < sizeof told->text - told->length);
    memcpy(told->text + told->length, text, length + 1);
    told->length += length;
}

static void say_number(words *told, uint32_t number) {
    char digits[20];
    CHECK(snprintf(digits, sizeof digits, "%u", (unsigned)number) > 0);
    say(told, digits);
}

static void tell(words *told, const pieces_Piece *piece) {
    switch (piece->what._d) {
        case 1:
            say_number(told, piece->what._u.number);
            break;
        case 2:
            say(told, piece->what._u.text);
            break;
        case 3:
            say(told, "(");
            tell(told, piece->what._u.inner);
            say(told, ")");
            break;
        default:
            CHECK(piece->what._d == 0);
            say(told, "-");
    }
    say(told, "/");
    say_number(told, piece->after);
}

static void look(void *self, const pieces_Heap *request, nearcall_environment *env) {
    words told = {"", 0};
    uint32_t index;
    (void)self;
    (void)env;
    for (index = 0; index < request->listed._length; index++) {
        tell(&told, &request->listed._buffer[index]);
        say(&told, ",");
    }
    say(&told, ";");
    for (index = 0; index < request->mapped._length; index++) {
        tell(&told, &request->mapped._buffer[index].value);
        say(&told, ",");
    }
    CHECK(strcmp(told.text, request->want) == 0);
}

int main(int argc, char **argv) {
    static const nearcall_server_pieces_Judge server = {NULL, look};
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerk;
    CHECK(argc == 2 && domain != NULL);
    clerk = nearcall_export_pieces_Judge(domain, argv[1], &server, &env);
    CHECK(clerk != NULL);
    serve(domain, clerk);
    return 0;
}
