/* The server of a self-test of talk, seed 1: `talk_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -pthread -o talk_selftest_server talk_selftest_server.c talk.c talk_server.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#define NC_SIDE "server"
#include "talk_selftest.h"

typedef struct nc_talk_0 {
    nearcall_inlet_talk_Talks_lines *inlet;
    nearcall_outlet_talk_Talks_lines *outlet;
    unsigned round;
} nc_talk_0;

static void *nc_talk_on_0(void *nc_self) {
    nc_talk_0 *talk = (nc_talk_0 *)nc_self;
    nearcall_environment nc_own_env;
    nearcall_environment *nc_env = &nc_own_env;
    nc_shown sent = {NULL, 0, 0};
    char *item;
    memset(&item, 0, sizeof item);
    nearcall_sequence_talk_Line items;
    memset(&items, 0, sizeof items);
    nc_put(&sent, "[");
    while (nearcall_take_talk_Talks_lines(talk->inlet, &item, nc_env)) {
        nc_put(&sent, sent.count == 1 ? "" : ", ");
        nc_put_text(&sent, item);
        nearcall_free(item);
    }
    nc_put(&sent, "]");
    switch (talk->round) {
    case 0: {
        nc_same("talk::Talks::lines", 0, "sent", &sent, "[\"Z\\5c\", \"\\5ca\", \"a%\"]");
        items._length = 3;
        items._buffer = nc_memory(3 * sizeof *items._buffer);
        items._buffer[0].text = nc_text("", 0);
        items._buffer[0].number = 0;
        items._buffer[1].text = nc_text("", 0);
        items._buffer[1].number = 35258;
        items._buffer[2].text = nc_text("\"%", 1);
        items._buffer[2].number = 65535;
        break;
    }
    case 1: {
        nc_same("talk::Talks::lines", 1, "sent", &sent, "[]");
        break;
    }
    case 2: {
        nc_same("talk::Talks::lines", 2, "sent", &sent, "[\"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\"]");
        items._length = 31;
        items._buffer = nc_memory(31 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 31; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].text = nc_text("\012Z", 1);
                items._buffer[nc_i13].number = 34478;
                break;
            case 1:
                items._buffer[nc_i13].text = nc_text("%", 1);
                items._buffer[nc_i13].number = 15983;
                break;
            case 2:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 0;
                break;
            }
        }
        break;
    }
    case 3: {
        nc_same("talk::Talks::lines", 3, "sent", &sent, "[\"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5c\", \"\\5c\", \"\077\\0a\", \"\\5... 462 bytes, hash f978f125d2c17e41");
        items._length = 63;
        items._buffer = nc_memory(63 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 63; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].text = nc_text(" a", 1);
                items._buffer[nc_i13].number = 0;
                break;
            case 1:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 20918;
                break;
            case 2:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 0;
                break;
            }
        }
        break;
    }
    case 4: {
        nc_same("talk::Talks::lines", 4, "sent", &sent, "[\"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\", \"\077Z\", \"\", \"a\077\"]");
        items._length = 32;
        items._buffer = nc_memory(32 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 32; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 65535;
                break;
            case 1:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 0;
                break;
            case 2:
                items._buffer[nc_i13].text = nc_text("", 0);
                items._buffer[nc_i13].number = 2988;
                break;
            }
        }
        break;
    }
    case 6: {
        nc_same("talk::Talks::lines", 6, "sent", &sent, "[\"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \", \"\\22Z\", \"\077\", \" \"]");
        items._length = 32;
        items._buffer = nc_memory(32 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 32; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].text = nc_text("\012%", 1);
                items._buffer[nc_i13].number = 0;
                break;
            case 1:
                items._buffer[nc_i13].text = nc_text("a", 1);
                items._buffer[nc_i13].number = 0;
                break;
            case 2:
                items._buffer[nc_i13].text = nc_text("a{", 1);
                items._buffer[nc_i13].number = 0;
                break;
            }
        }
        break;
    }
    }
    for (uint32_t i = 0; i < items._length; i++) {
        /* It is the outlet's, whatever happens. */
        nearcall_give_talk_Talks_lines(talk->outlet, items._buffer[i], nc_env);
    }
    nearcall_free(items._buffer);
    nearcall_begin(nc_env);
    switch (talk->round) {
    case 6: {
        talk_Refused nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.code = (-2147483647 - 1);
        nearcall_raise_talk_Refused(nc_env, nc_raised);
        break;
    }
    }
    nearcall_release_inlet_talk_Talks_lines(talk->inlet);
    nearcall_release_outlet_talk_Talks_lines(talk->outlet, nc_env);
    nearcall_free(talk);
    return NULL;
}

static void nc_run_0(void *nc_self, const char *room, nearcall_inlet_talk_Talks_lines *nc_inlet, nearcall_outlet_talk_Talks_lines *nc_outlet, nearcall_environment *nc_env) {
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(0, 7)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 0, "room", &got, "\"\077\"");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 0;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 1, "room", &got, "\"\"");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 1;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 2, "room", &got, "\"\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\... 402 bytes, hash 3a0fe491f54cd709");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 2;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 3, "room", &got, "\"Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c\077Z\\0a\\5c\\0a\\f0\\9f\\98\\8... 7802 bytes, hash af544bdfede9581d");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 3;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 4, "room", &got, "\"\\0a\"");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 4;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 5: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 5, "room", &got, "\"\"");
        }
        talk_Refused nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.code = (-2147483647 - 1);
        nearcall_raise_talk_Refused(nc_env, nc_raised);
        nearcall_release_inlet_talk_Talks_lines(nc_inlet);
        nearcall_release_outlet_talk_Talks_lines(nc_outlet, NULL);
        break;
    }
    case 6: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, room);
            nc_same("talk::Talks::lines", 6, "room", &got, "\"%\\5c\"");
        }
        nc_talk_0 *talk = (nc_talk_0 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 6;
        if (pthread_create(&thread, NULL, nc_talk_on_0, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    }
}

typedef struct nc_talk_1 {
    nearcall_inlet_talk_Talks_octets *inlet;
    nearcall_outlet_talk_Talks_octets *outlet;
    unsigned round;
} nc_talk_1;

static void *nc_talk_on_1(void *nc_self) {
    nc_talk_1 *talk = (nc_talk_1 *)nc_self;
    nearcall_environment nc_own_env;
    nearcall_environment *nc_env = &nc_own_env;
    nc_shown sent = {NULL, 0, 0};
    bool item;
    memset(&item, 0, sizeof item);
    nearcall_sequence_octet items;
    memset(&items, 0, sizeof items);
    nc_put(&sent, "[");
    while (nearcall_take_talk_Talks_octets(talk->inlet, &item, nc_env)) {
        nc_put(&sent, sent.count == 1 ? "" : ", ");
        nc_put_boolean(&sent, item);
    }
    nc_put(&sent, "]");
    switch (talk->round) {
    case 0: {
        nc_same("talk::Talks::octets", 0, "sent", &sent, "[true, true, false]");
        items._length = 3;
        items._buffer = nc_memory(3 * sizeof *items._buffer);
        items._buffer[0] = 255;
        items._buffer[1] = 0;
        items._buffer[2] = 0;
        break;
    }
    case 1: {
        nc_same("talk::Talks::octets", 1, "sent", &sent, "[]");
        break;
    }
    case 2: {
        nc_same("talk::Talks::octets", 2, "sent", &sent, "[true, true, true, true, true, false, false, true, true, true, true, true, false, false, true, true,... 6436 bytes, hash cd6b76f04dbe0779");
        items._length = 1024;
        items._buffer = nc_memory(1024 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 1024; nc_i13++) {
            switch (nc_i13 % 7) {
            case 0:
                items._buffer[nc_i13] = 0;
                break;
            case 1:
                items._buffer[nc_i13] = 21;
                break;
            case 2:
                items._buffer[nc_i13] = 255;
                break;
            case 3:
                items._buffer[nc_i13] = 255;
                break;
            case 4:
                items._buffer[nc_i13] = 193;
                break;
            case 5:
                items._buffer[nc_i13] = 103;
                break;
            case 6:
                items._buffer[nc_i13] = 0;
                break;
            }
        }
        break;
    }
    case 3: {
        nc_same("talk::Talks::octets", 3, "sent", &sent, "[false, false, true, true, true, true, false, false, false, true, true, true, true, false, false, fa... 13172 bytes, hash 67b74ba32aa4fab7");
        items._length = 2049;
        items._buffer = nc_memory(2049 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 2049; nc_i13++) {
            switch (nc_i13 % 7) {
            case 0:
                items._buffer[nc_i13] = 0;
                break;
            case 1:
                items._buffer[nc_i13] = 0;
                break;
            case 2:
                items._buffer[nc_i13] = 72;
                break;
            case 3:
                items._buffer[nc_i13] = 4;
                break;
            case 4:
                items._buffer[nc_i13] = 0;
                break;
            case 5:
                items._buffer[nc_i13] = 65;
                break;
            case 6:
                items._buffer[nc_i13] = 0;
                break;
            }
        }
        break;
    }
    case 4: {
        nc_same("talk::Talks::octets", 4, "sent", &sent, "[true, false, false, true, true, true, false, true, false, false, true, true, true, false, true, fal... 6590 bytes, hash d174b30314a6c4c5");
        items._length = 1025;
        items._buffer = nc_memory(1025 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 1025; nc_i13++) {
            switch (nc_i13 % 7) {
            case 0:
                items._buffer[nc_i13] = 219;
                break;
            case 1:
                items._buffer[nc_i13] = 246;
                break;
            case 2:
                items._buffer[nc_i13] = 0;
                break;
            case 3:
                items._buffer[nc_i13] = 19;
                break;
            case 4:
                items._buffer[nc_i13] = 3;
                break;
            case 5:
                items._buffer[nc_i13] = 0;
                break;
            case 6:
                items._buffer[nc_i13] = 0;
                break;
            }
        }
        break;
    }
    }
    for (uint32_t i = 0; i < items._length; i++) {
        /* It is the outlet's, whatever happens. */
        nearcall_give_talk_Talks_octets(talk->outlet, items._buffer[i], nc_env);
    }
    nearcall_free(items._buffer);
    nearcall_begin(nc_env);
    nearcall_release_inlet_talk_Talks_octets(talk->inlet);
    nearcall_release_outlet_talk_Talks_octets(talk->outlet, nc_env);
    nearcall_free(talk);
    return NULL;
}

static void nc_run_1(void *nc_self, nearcall_inlet_talk_Talks_octets *nc_inlet, nearcall_outlet_talk_Talks_octets *nc_outlet, nearcall_environment *nc_env) {
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(1, 5)) {
    case 0: {
        nc_talk_1 *talk = (nc_talk_1 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 0;
        if (pthread_create(&thread, NULL, nc_talk_on_1, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 1: {
        nc_talk_1 *talk = (nc_talk_1 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 1;
        if (pthread_create(&thread, NULL, nc_talk_on_1, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 2: {
        nc_talk_1 *talk = (nc_talk_1 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 2;
        if (pthread_create(&thread, NULL, nc_talk_on_1, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 3: {
        nc_talk_1 *talk = (nc_talk_1 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 3;
        if (pthread_create(&thread, NULL, nc_talk_on_1, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    case 4: {
        nc_talk_1 *talk = (nc_talk_1 *)nc_memory(sizeof *talk);
        pthread_t thread;
        talk->inlet = nc_inlet;
        talk->outlet = nc_outlet;
        talk->round = 4;
        if (pthread_create(&thread, NULL, nc_talk_on_1, talk) != 0) {
            nc_stop("there is no thread");
        }
        pthread_detach(thread);
        break;
    }
    }
}

int main(int argc, char **argv) {
    static const nearcall_server_talk_Talks server_0 = {
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
    clerks[0] = nearcall_export_talk_Talks(domain, name, &server_0, &env);
    if (clerks[0] == NULL) {
        nc_stop(env.message);
    }
    puts("ready");
    fflush(stdout);
    nc_rest();
    nc_wait(12);
    nearcall_domain_shut_down(domain);
    for (size_t i = 0; i < 1; i++) {
        nearcall_clerk_release(clerks[i]);
    }
    nearcall_domain_release(domain);
    return nc_end(12);
}
