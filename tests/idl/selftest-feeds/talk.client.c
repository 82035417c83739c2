/* The client of a self-test of talk, seed 1: `talk_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o talk_selftest_client talk_selftest_client.c talk.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#define NC_SIDE "client"
#include "talk_selftest.h"

static void nc_call_0(const talk_Talks *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("\077", 1);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 3;
        sent._buffer = nc_memory(3 * sizeof *sent._buffer);
        sent._buffer[0] = nc_text("Z\\", 1);
        sent._buffer[1] = nc_text("\\a", 1);
        sent._buffer[2] = nc_text("a%", 1);
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 0, "items", &items, "[{text: \"\", number: 0}, {text: \"\", number: 35258}, {text: \"\\22%\", number: 65535}]");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 0, "outcome", &outcome, "returned");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("", 0);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 1, "items", &items, "[]");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 1, "outcome", &outcome, "returned");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("\360\237\230\200\342\202\254Z\012\303\251\303\251\"", 10);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 31;
        sent._buffer = nc_memory(31 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 31; nc_i12++) {
            switch (nc_i12 % 3) {
            case 0:
                sent._buffer[nc_i12] = nc_text("\"", 1);
                break;
            case 1:
                sent._buffer[nc_i12] = nc_text("", 0);
                break;
            case 2:
                sent._buffer[nc_i12] = nc_text("", 0);
                break;
            }
        }
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 2, "items", &items, "[{text: \"\\0aZ\", number: 34478}, {text: \"%\", number: 15983}, {text: \"\", number: 0}, {text: \"\\0aZ\", nu... 851 bytes, hash 041cf51ea77871e4");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 2, "outcome", &outcome, "returned");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("Z\012\\\012\360\237\230\200\\\077", 300);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 63;
        sent._buffer = nc_memory(63 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 63; nc_i12++) {
            switch (nc_i12 % 3) {
            case 0:
                sent._buffer[nc_i12] = nc_text("\077\012", 1);
                break;
            case 1:
                sent._buffer[nc_i12] = nc_text("\\", 1);
                break;
            case 2:
                sent._buffer[nc_i12] = nc_text("\\", 1);
                break;
            }
        }
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 3, "items", &items, "[{text: \" a\", number: 0}, {text: \"\", number: 20918}, {text: \"\", number: 0}, {text: \" a\", number: 0},... 1575 bytes, hash 4a7a1bc4fe007f3e");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 3, "outcome", &outcome, "returned");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("\012", 1);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 32;
        sent._buffer = nc_memory(32 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 32; nc_i12++) {
            switch (nc_i12 % 3) {
            case 0:
                sent._buffer[nc_i12] = nc_text("", 0);
                break;
            case 1:
                sent._buffer[nc_i12] = nc_text("a\077", 1);
                break;
            case 2:
                sent._buffer[nc_i12] = nc_text("\077Z", 1);
                break;
            }
        }
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 4, "items", &items, "[{text: \"\", number: 65535}, {text: \"\", number: 0}, {text: \"\", number: 2988}, {text: \"\", number: 6553... 810 bytes, hash f3939f26f3b7b3b5");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 4, "outcome", &outcome, "returned");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("", 0);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 5, "items", &items, "[]");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 5, "outcome", &outcome, "raised talk::Refused {code: -2147483648}");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_room;
        memset(&a_room, 0, sizeof a_room);
        a_room = nc_text("%\\", 1);
        nearcall_sides_talk_Talks_lines sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        talk_Line item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_text sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 32;
        sent._buffer = nc_memory(32 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 32; nc_i12++) {
            switch (nc_i12 % 3) {
            case 0:
                sent._buffer[nc_i12] = nc_text("\077", 1);
                break;
            case 1:
                sent._buffer[nc_i12] = nc_text(" ", 1);
                break;
            case 2:
                sent._buffer[nc_i12] = nc_text("\"Z", 1);
                break;
            }
        }
        nc_round(0, 7);
        sides = talk_Talks_lines(client, a_room, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_lines(sides.sink, sent._buffer[i], &env);
            } else {
                nearcall_free(sent._buffer[i]);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_lines(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_lines(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_talk_Line(&items, &item);
            nearcall_free_talk_Line(&item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::lines", 6, "items", &items, "[{text: \"\\0a%\", number: 0}, {text: \"a\", number: 0}, {text: \"a{\", number: 0}, {text: \"\\0a%\", number: ... 811 bytes, hash c2d86aeea49df38c");
        nearcall_release_sink_talk_Talks_lines(sides.sink);
        nearcall_release_feed_talk_Talks_lines(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_talk_Refused(&env) != NULL) {
            nc_put(&outcome, "raised talk::Refused ");
            nc_show_talk_Refused(&outcome, nearcall_raised_talk_Refused(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::lines", 6, "outcome", &outcome, "raised talk::Refused {code: -2147483648}");
        nearcall_free(a_room);
        nearcall_environment_release(&env);
    }
}

static void nc_call_1(const talk_Talks *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        nearcall_sides_talk_Talks_octets sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        uint8_t item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_boolean sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 3;
        sent._buffer = nc_memory(3 * sizeof *sent._buffer);
        sent._buffer[0] = true;
        sent._buffer[1] = true;
        sent._buffer[2] = false;
        nc_round(1, 5);
        sides = talk_Talks_octets(client, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_octets(sides.sink, sent._buffer[i], &env);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_octets(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_octets(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_put_unsigned(&items, item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::octets", 0, "items", &items, "[255, 0, 0]");
        nearcall_release_sink_talk_Talks_octets(sides.sink);
        nearcall_release_feed_talk_Talks_octets(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::octets", 0, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        nearcall_sides_talk_Talks_octets sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        uint8_t item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_boolean sent;
        memset(&sent, 0, sizeof sent);
        nc_round(1, 5);
        sides = talk_Talks_octets(client, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_octets(sides.sink, sent._buffer[i], &env);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_octets(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_octets(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_put_unsigned(&items, item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::octets", 1, "items", &items, "[]");
        nearcall_release_sink_talk_Talks_octets(sides.sink);
        nearcall_release_feed_talk_Talks_octets(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::octets", 1, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        nearcall_sides_talk_Talks_octets sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        uint8_t item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_boolean sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 1024;
        sent._buffer = nc_memory(1024 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 1024; nc_i12++) {
            switch (nc_i12 % 7) {
            case 0:
                sent._buffer[nc_i12] = true;
                break;
            case 1:
                sent._buffer[nc_i12] = true;
                break;
            case 2:
                sent._buffer[nc_i12] = true;
                break;
            case 3:
                sent._buffer[nc_i12] = true;
                break;
            case 4:
                sent._buffer[nc_i12] = true;
                break;
            case 5:
                sent._buffer[nc_i12] = false;
                break;
            case 6:
                sent._buffer[nc_i12] = false;
                break;
            }
        }
        nc_round(1, 5);
        sides = talk_Talks_octets(client, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_octets(sides.sink, sent._buffer[i], &env);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_octets(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_octets(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_put_unsigned(&items, item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::octets", 2, "items", &items, "[0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 25... 4387 bytes, hash b9dd45e2b84058ea");
        nearcall_release_sink_talk_Talks_octets(sides.sink);
        nearcall_release_feed_talk_Talks_octets(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::octets", 2, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        nearcall_sides_talk_Talks_octets sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        uint8_t item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_boolean sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 2049;
        sent._buffer = nc_memory(2049 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 2049; nc_i12++) {
            switch (nc_i12 % 7) {
            case 0:
                sent._buffer[nc_i12] = false;
                break;
            case 1:
                sent._buffer[nc_i12] = false;
                break;
            case 2:
                sent._buffer[nc_i12] = true;
                break;
            case 3:
                sent._buffer[nc_i12] = true;
                break;
            case 4:
                sent._buffer[nc_i12] = true;
                break;
            case 5:
                sent._buffer[nc_i12] = true;
                break;
            case 6:
                sent._buffer[nc_i12] = false;
                break;
            }
        }
        nc_round(1, 5);
        sides = talk_Talks_octets(client, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_octets(sides.sink, sent._buffer[i], &env);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_octets(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_octets(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_put_unsigned(&items, item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::octets", 3, "items", &items, "[0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 7... 6732 bytes, hash 429bd6ce15987032");
        nearcall_release_sink_talk_Talks_octets(sides.sink);
        nearcall_release_feed_talk_Talks_octets(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::octets", 3, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        nearcall_sides_talk_Talks_octets sides;
        bool is_open;
        nc_shown items = {NULL, 0, 0};
        uint8_t item;
        memset(&item, 0, sizeof item);
        nearcall_sequence_boolean sent;
        memset(&sent, 0, sizeof sent);
        sent._length = 1025;
        sent._buffer = nc_memory(1025 * sizeof *sent._buffer);
        for (uint32_t nc_i12 = 0; nc_i12 < 1025; nc_i12++) {
            switch (nc_i12 % 7) {
            case 0:
                sent._buffer[nc_i12] = true;
                break;
            case 1:
                sent._buffer[nc_i12] = false;
                break;
            case 2:
                sent._buffer[nc_i12] = false;
                break;
            case 3:
                sent._buffer[nc_i12] = true;
                break;
            case 4:
                sent._buffer[nc_i12] = true;
                break;
            case 5:
                sent._buffer[nc_i12] = true;
                break;
            case 6:
                sent._buffer[nc_i12] = false;
                break;
            }
        }
        nc_round(1, 5);
        sides = talk_Talks_octets(client, &env);
        is_open = sides.sink != NULL;
        for (uint32_t i = 0; i < sent._length; i++) {
            if (is_open) {
                /* It is the sink's, whatever happens. */
                is_open = nearcall_put_talk_Talks_octets(sides.sink, sent._buffer[i], &env);
            }
        }
        nearcall_free(sent._buffer);
        if (is_open) {
            nearcall_end_talk_Talks_octets(sides.sink, &env);
            is_open = env.outcome == NEARCALL_RETURNED;
        }
        nc_put(&items, "[");
        while (is_open && nearcall_next_talk_Talks_octets(sides.feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_put_unsigned(&items, item);
        }
        nc_put(&items, "]");
        nc_same("talk::Talks::octets", 4, "items", &items, "[219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0... 3809 bytes, hash 12418a1f3cd76b8d");
        nearcall_release_sink_talk_Talks_octets(sides.sink);
        nearcall_release_feed_talk_Talks_octets(sides.feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("talk::Talks::octets", 4, "outcome", &outcome, "returned");
        nearcall_environment_release(&env);
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    char name[128];
    int status;
    talk_Talks *client_0;
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    client_0 = nearcall_import_talk_Talks(domain, name, &env);
    if (client_0 == NULL) {
        nc_stop(env.message);
    }
    nc_call_0(client_0);
    nc_call_1(client_0);
    status = nc_end(12);
    nearcall_release_talk_Talks(client_0);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return status;
}
