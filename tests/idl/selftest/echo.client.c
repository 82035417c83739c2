/* The client of a self-test of echo, seed 1: `echo_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o echo_selftest_client echo_selftest_client.c echo.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#define NC_SIDE "client"
#include "echo_selftest.h"

static void nc_call_0(const echo_Echo *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = 2147483647;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, returned);
                nc_same("echo::Echo::twice", 0, "returned", &got, "-2147483648");
            }
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 0, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = 1359066553;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, returned);
                nc_same("echo::Echo::twice", 1, "returned", &got, "0");
            }
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 1, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = -1842903691;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, returned);
                nc_same("echo::Echo::twice", 2, "returned", &got, "-2147483648");
            }
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 2, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = -2125050015;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, returned);
                nc_same("echo::Echo::twice", 3, "returned", &got, "-878027328");
            }
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 3, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = -280209496;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, returned);
                nc_same("echo::Echo::twice", 4, "returned", &got, "939330403");
            }
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 4, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        int32_t a_a;
        memset(&a_a, 0, sizeof a_a);
        a_a = -1330673170;
        int32_t returned;
        memset(&returned, 0, sizeof returned);
        nc_round(0, 6);
        returned = echo_Echo_twice(client, a_a, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_echo_Unknown(&env) != NULL) {
            nc_put(&outcome, "raised echo::Unknown ");
            nc_show_echo_Unknown(&outcome, nearcall_raised_echo_Unknown(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::twice", 5, "outcome", &outcome, "raised echo::Unknown {who: \"a\"}");
        nearcall_environment_release(&env);
    }
}

static void nc_call_1(const echo_Echo *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        echo_Guest a_guest;
        memset(&a_guest, 0, sizeof a_guest);
        a_guest.name = nc_text("", 0);
        a_guest.age = nc_memory(sizeof *a_guest.age);
        (*a_guest.age) = 2147483647;
        nearcall_sequence_int16 a_numbers;
        memset(&a_numbers, 0, sizeof a_numbers);
        a_numbers._length = 2;
        a_numbers._buffer = nc_memory(2 * sizeof *a_numbers._buffer);
        a_numbers._buffer[0] = 32767;
        a_numbers._buffer[1] = 25191;
        nearcall_sequence_octet a_raw;
        memset(&a_raw, 0, sizeof a_raw);
        echo_Mood returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = echo_Echo_greet(client, &a_guest, &a_numbers, &a_raw, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, (int64_t)returned);
                nc_same("echo::Echo::greet", 0, "returned", &got, "0");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_int16(&got, &a_numbers);
                nc_same("echo::Echo::greet", 0, "numbers", &got, "[-1987]");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_octet(&got, &a_raw);
                nc_same("echo::Echo::greet", 0, "raw", &got, "[46]");
            }
            nearcall_free_sequence_octet(&a_raw);
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::greet", 0, "outcome", &outcome, "returned");
        nearcall_free_echo_Guest(&a_guest);
        nearcall_free_sequence_int16(&a_numbers);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        echo_Guest a_guest;
        memset(&a_guest, 0, sizeof a_guest);
        a_guest.name = nc_text("", 0);
        nearcall_sequence_int16 a_numbers;
        memset(&a_numbers, 0, sizeof a_numbers);
        nearcall_sequence_octet a_raw;
        memset(&a_raw, 0, sizeof a_raw);
        echo_Mood returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = echo_Echo_greet(client, &a_guest, &a_numbers, &a_raw, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, (int64_t)returned);
                nc_same("echo::Echo::greet", 1, "returned", &got, "1");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_int16(&got, &a_numbers);
                nc_same("echo::Echo::greet", 1, "numbers", &got, "[]");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_octet(&got, &a_raw);
                nc_same("echo::Echo::greet", 1, "raw", &got, "[]");
            }
            nearcall_free_sequence_octet(&a_raw);
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::greet", 1, "outcome", &outcome, "returned");
        nearcall_free_echo_Guest(&a_guest);
        nearcall_free_sequence_int16(&a_numbers);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        echo_Guest a_guest;
        memset(&a_guest, 0, sizeof a_guest);
        a_guest.name = nc_text("\"\303\251\360\237\230\200\"", 1);
        a_guest.age = nc_memory(sizeof *a_guest.age);
        (*a_guest.age) = 0;
        nearcall_sequence_int16 a_numbers;
        memset(&a_numbers, 0, sizeof a_numbers);
        a_numbers._length = 3;
        a_numbers._buffer = nc_memory(3 * sizeof *a_numbers._buffer);
        a_numbers._buffer[0] = 32767;
        a_numbers._buffer[1] = -29181;
        a_numbers._buffer[2] = 0;
        nearcall_sequence_octet a_raw;
        memset(&a_raw, 0, sizeof a_raw);
        echo_Mood returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = echo_Echo_greet(client, &a_guest, &a_numbers, &a_raw, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, (int64_t)returned);
                nc_same("echo::Echo::greet", 2, "returned", &got, "0");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_int16(&got, &a_numbers);
                nc_same("echo::Echo::greet", 2, "numbers", &got, "[-32768, -32768, -27451]");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_octet(&got, &a_raw);
                nc_same("echo::Echo::greet", 2, "raw", &got, "[188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0,... 601 bytes, hash 9cf1af5686a0c974");
            }
            nearcall_free_sequence_octet(&a_raw);
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::greet", 2, "outcome", &outcome, "returned");
        nearcall_free_echo_Guest(&a_guest);
        nearcall_free_sequence_int16(&a_numbers);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        echo_Guest a_guest;
        memset(&a_guest, 0, sizeof a_guest);
        a_guest.name = nc_text("\"\077a%\077{", 1);
        a_guest.age = nc_memory(sizeof *a_guest.age);
        (*a_guest.age) = 41519233;
        nearcall_sequence_int16 a_numbers;
        memset(&a_numbers, 0, sizeof a_numbers);
        a_numbers._length = 3;
        a_numbers._buffer = nc_memory(3 * sizeof *a_numbers._buffer);
        a_numbers._buffer[0] = 22369;
        a_numbers._buffer[1] = 12405;
        a_numbers._buffer[2] = -4681;
        nearcall_sequence_octet a_raw;
        memset(&a_raw, 0, sizeof a_raw);
        echo_Mood returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = echo_Echo_greet(client, &a_guest, &a_numbers, &a_raw, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, (int64_t)returned);
                nc_same("echo::Echo::greet", 3, "returned", &got, "1");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_int16(&got, &a_numbers);
                nc_same("echo::Echo::greet", 3, "numbers", &got, "[-27801, 18964, 0]");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_octet(&got, &a_raw);
                nc_same("echo::Echo::greet", 3, "raw", &got, "[0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0... 11573 bytes, hash 967d0858fa0c7a4e");
            }
            nearcall_free_sequence_octet(&a_raw);
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::greet", 3, "outcome", &outcome, "returned");
        nearcall_free_echo_Guest(&a_guest);
        nearcall_free_sequence_int16(&a_numbers);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        echo_Guest a_guest;
        memset(&a_guest, 0, sizeof a_guest);
        a_guest.name = nc_text("x", 8);
        a_guest.age = nc_memory(sizeof *a_guest.age);
        (*a_guest.age) = (-2147483647 - 1);
        nearcall_sequence_int16 a_numbers;
        memset(&a_numbers, 0, sizeof a_numbers);
        a_numbers._length = 3;
        a_numbers._buffer = nc_memory(3 * sizeof *a_numbers._buffer);
        a_numbers._buffer[0] = 27558;
        a_numbers._buffer[1] = 32767;
        a_numbers._buffer[2] = 8526;
        nearcall_sequence_octet a_raw;
        memset(&a_raw, 0, sizeof a_raw);
        echo_Mood returned;
        memset(&returned, 0, sizeof returned);
        nc_round(1, 5);
        returned = echo_Echo_greet(client, &a_guest, &a_numbers, &a_raw, &env);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_signed(&got, (int64_t)returned);
                nc_same("echo::Echo::greet", 4, "returned", &got, "1");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_int16(&got, &a_numbers);
                nc_same("echo::Echo::greet", 4, "numbers", &got, "[-32768, -6380, -32768]");
            }
            {
                nc_shown got = {NULL, 0, 0};
                nc_show_sequence_octet(&got, &a_raw);
                nc_same("echo::Echo::greet", 4, "raw", &got, "[0, 233, 184]");
            }
            nearcall_free_sequence_octet(&a_raw);
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("echo::Echo::greet", 4, "outcome", &outcome, "returned");
        nearcall_free_echo_Guest(&a_guest);
        nearcall_free_sequence_int16(&a_numbers);
        nearcall_environment_release(&env);
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    char name[128];
    int status;
    echo_Echo *client_0;
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    client_0 = nearcall_import_echo_Echo(domain, name, &env);
    if (client_0 == NULL) {
        nc_stop(env.message);
    }
    nc_call_0(client_0);
    nc_call_1(client_0);
    status = nc_end(11);
    nearcall_release_echo_Echo(client_0);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return status;
}
