/* The server of a self-test of echo, seed 1: `echo_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o echo_selftest_server echo_selftest_server.c echo.c echo_server.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#define NC_SIDE "server"
#include "echo_selftest.h"

static int32_t nc_run_0(void *nc_self, int32_t a, nearcall_environment *nc_env) {
    int32_t nc_returned;
    memset(&nc_returned, 0, sizeof nc_returned);
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(0, 6)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 0, "a", &got, "2147483647");
        }
        nc_returned = (-2147483647 - 1);
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 1, "a", &got, "1359066553");
        }
        nc_returned = 0;
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 2, "a", &got, "-1842903691");
        }
        nc_returned = (-2147483647 - 1);
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 3, "a", &got, "-2125050015");
        }
        nc_returned = -878027328;
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 4, "a", &got, "-280209496");
        }
        nc_returned = 939330403;
        break;
    }
    case 5: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_signed(&got, a);
            nc_same("echo::Echo::twice", 5, "a", &got, "-1330673170");
        }
        echo_Unknown nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.who = nc_text("a", 1);
        nearcall_raise_echo_Unknown(nc_env, nc_raised);
        break;
    }
    }
    return nc_returned;
}

static echo_Mood nc_run_1(void *nc_self, const echo_Guest *guest, nearcall_sequence_int16 *numbers, nearcall_served *raw, nearcall_environment *nc_env) {
    echo_Mood nc_returned;
    memset(&nc_returned, 0, sizeof nc_returned);
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(1, 5)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_echo_Guest(&got, &(*guest));
            nc_same("echo::Echo::greet", 0, "guest", &got, "{name: \"\", age: 2147483647}");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_sequence_int16(&got, &(*numbers));
            nc_same("echo::Echo::greet", 0, "numbers", &got, "[32767, 25191]");
        }
        nearcall_free_sequence_int16(&(*numbers));
        memset(numbers, 0, sizeof *numbers);
        (*numbers)._length = 1;
        (*numbers)._buffer = nc_memory(1 * sizeof *(*numbers)._buffer);
        (*numbers)._buffer[0] = -1987;
        {
            nearcall_sequence_octet nc_octets;
            memset(&nc_octets, 0, sizeof nc_octets);
            nc_octets._length = 1;
            nc_octets._buffer = nc_memory(1 * sizeof *nc_octets._buffer);
            nc_octets._buffer[0] = 46;
            if (!nearcall_room_put(raw, nc_octets._buffer, nc_octets._length)) {
                nc_stop("there is no room for octets");
            }
            nearcall_free_sequence_octet(&nc_octets);
        }
        nc_returned = echo_GLAD;
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_echo_Guest(&got, &(*guest));
            nc_same("echo::Echo::greet", 1, "guest", &got, "{name: \"\", age: none}");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_sequence_int16(&got, &(*numbers));
            nc_same("echo::Echo::greet", 1, "numbers", &got, "[]");
        }
        nearcall_free_sequence_int16(&(*numbers));
        memset(numbers, 0, sizeof *numbers);
        {
            nearcall_sequence_octet nc_octets;
            memset(&nc_octets, 0, sizeof nc_octets);
            if (!nearcall_room_put(raw, nc_octets._buffer, nc_octets._length)) {
                nc_stop("there is no room for octets");
            }
            nearcall_free_sequence_octet(&nc_octets);
        }
        nc_returned = echo_SAD;
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_echo_Guest(&got, &(*guest));
            nc_same("echo::Echo::greet", 2, "guest", &got, "{name: \"\\22\\c3\\a9\\f0\\9f\\98\\80\\22\", age: 0}");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_sequence_int16(&got, &(*numbers));
            nc_same("echo::Echo::greet", 2, "numbers", &got, "[32767, -29181, 0]");
        }
        nearcall_free_sequence_int16(&(*numbers));
        memset(numbers, 0, sizeof *numbers);
        (*numbers)._length = 3;
        (*numbers)._buffer = nc_memory(3 * sizeof *(*numbers)._buffer);
        (*numbers)._buffer[0] = -32768;
        (*numbers)._buffer[1] = -32768;
        (*numbers)._buffer[2] = -27451;
        {
            nearcall_sequence_octet nc_octets;
            memset(&nc_octets, 0, sizeof nc_octets);
            nc_octets._length = 150;
            nc_octets._buffer = nc_memory(150 * sizeof *nc_octets._buffer);
            for (uint32_t nc_i17 = 0; nc_i17 < 150; nc_i17++) {
                switch (nc_i17 % 7) {
                case 0:
                    nc_octets._buffer[nc_i17] = 188;
                    break;
                case 1:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                case 2:
                    nc_octets._buffer[nc_i17] = 129;
                    break;
                case 3:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                case 4:
                    nc_octets._buffer[nc_i17] = 21;
                    break;
                case 5:
                    nc_octets._buffer[nc_i17] = 255;
                    break;
                case 6:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                }
            }
            if (!nearcall_room_put(raw, nc_octets._buffer, nc_octets._length)) {
                nc_stop("there is no room for octets");
            }
            nearcall_free_sequence_octet(&nc_octets);
        }
        nc_returned = echo_GLAD;
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_echo_Guest(&got, &(*guest));
            nc_same("echo::Echo::greet", 3, "guest", &got, "{name: \"\\22\077a%\077{\", age: 41519233}");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_sequence_int16(&got, &(*numbers));
            nc_same("echo::Echo::greet", 3, "numbers", &got, "[22369, 12405, -4681]");
        }
        nearcall_free_sequence_int16(&(*numbers));
        memset(numbers, 0, sizeof *numbers);
        (*numbers)._length = 3;
        (*numbers)._buffer = nc_memory(3 * sizeof *(*numbers)._buffer);
        (*numbers)._buffer[0] = -27801;
        (*numbers)._buffer[1] = 18964;
        (*numbers)._buffer[2] = 0;
        {
            nearcall_sequence_octet nc_octets;
            memset(&nc_octets, 0, sizeof nc_octets);
            nc_octets._length = 3000;
            nc_octets._buffer = nc_memory(3000 * sizeof *nc_octets._buffer);
            for (uint32_t nc_i17 = 0; nc_i17 < 3000; nc_i17++) {
                switch (nc_i17 % 7) {
                case 0:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                case 1:
                    nc_octets._buffer[nc_i17] = 166;
                    break;
                case 2:
                    nc_octets._buffer[nc_i17] = 46;
                    break;
                case 3:
                    nc_octets._buffer[nc_i17] = 208;
                    break;
                case 4:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                case 5:
                    nc_octets._buffer[nc_i17] = 0;
                    break;
                case 6:
                    nc_octets._buffer[nc_i17] = 44;
                    break;
                }
            }
            if (!nearcall_room_put(raw, nc_octets._buffer, nc_octets._length)) {
                nc_stop("there is no room for octets");
            }
            nearcall_free_sequence_octet(&nc_octets);
        }
        nc_returned = echo_SAD;
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_echo_Guest(&got, &(*guest));
            nc_same("echo::Echo::greet", 4, "guest", &got, "{name: \"xxxxxxxx\", age: -2147483648}");
        }
        {
            nc_shown got = {NULL, 0, 0};
            nc_show_sequence_int16(&got, &(*numbers));
            nc_same("echo::Echo::greet", 4, "numbers", &got, "[27558, 32767, 8526]");
        }
        nearcall_free_sequence_int16(&(*numbers));
        memset(numbers, 0, sizeof *numbers);
        (*numbers)._length = 3;
        (*numbers)._buffer = nc_memory(3 * sizeof *(*numbers)._buffer);
        (*numbers)._buffer[0] = -32768;
        (*numbers)._buffer[1] = -6380;
        (*numbers)._buffer[2] = -32768;
        {
            nearcall_sequence_octet nc_octets;
            memset(&nc_octets, 0, sizeof nc_octets);
            nc_octets._length = 3;
            nc_octets._buffer = nc_memory(3 * sizeof *nc_octets._buffer);
            nc_octets._buffer[0] = 0;
            nc_octets._buffer[1] = 233;
            nc_octets._buffer[2] = 184;
            if (!nearcall_room_put(raw, nc_octets._buffer, nc_octets._length)) {
                nc_stop("there is no room for octets");
            }
            nearcall_free_sequence_octet(&nc_octets);
        }
        nc_returned = echo_SAD;
        break;
    }
    }
    return nc_returned;
}

int main(int argc, char **argv) {
    static const nearcall_server_echo_Echo server_0 = {
        NULL,
        nc_run_0,
        nc_run_1,
    };
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    nearcall_clerk *clerks[1];
    char name[128];
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    clerks[0] = nearcall_export_echo_Echo(domain, name, &server_0, &env);
    if (clerks[0] == NULL) {
        nc_stop(env.message);
    }
    puts("ready");
    fflush(stdout);
    nc_rest();
    nc_wait(11);
    nearcall_domain_shut_down(domain);
    for (size_t i = 0; i < 1; i++) {
        nearcall_clerk_release(clerks[i]);
    }
    nearcall_domain_release(domain);
    return nc_end(11);
}
