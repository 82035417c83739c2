/* The client of a self-test of drip, seed 1: `drip_selftest_client NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o drip_selftest_client drip_selftest_client.c drip.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#define NC_SIDE "client"
#include "drip_selftest.h"

static void nc_call_0(const drip_Drip *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\077", 1);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 0, "items", &items, "[{size: 254, colour: \"\\5c\"}, {size: 172, colour: \"Z\"}, {size: 12, colour: \"\"}]");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 0, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("", 0);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 1, "items", &items, "[]");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 1, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\360\237\230\200{\"%\342\202\254 a", 12);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 2, "items", &items, "[{size: 0, colour: \"\"}, {size: 14, colour: \"Z\\0a\"}, {size: 121, colour: \"\"}, {size: 0, colour: \"\"}, ... 783 bytes, hash 6688d97ddc345194");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 2, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("%\077\012\303\251{\360\237\230\200\342\202\254", 230);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 3, "items", &items, "[{size: 111, colour: \"\"}, {size: 0, colour: \"\"}, {size: 255, colour: \" \"}, {size: 111, colour: \"\"}, ... 1554 bytes, hash 19499f2252115175");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 3, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("", 0);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 4, "items", &items, "[{size: 4, colour: \"\\0a\"}, {size: 0, colour: \"\"}, {size: 156, colour: \"\077\"}, {size: 4, colour: \"\\0a\"}... 799 bytes, hash 70b7fd74c51b4ed6");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 4, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\012", 1);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 5, "items", &items, "[]");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 5, "outcome", &outcome, "raised drip::Dry {left: 0}");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\\%", 1);
        nearcall_feed_drip_Drip_out_of *feed;
        drip_Drop item;
        memset(&item, 0, sizeof item);
        nc_shown items = {NULL, 0, 0};
        nc_round(0, 7);
        feed = drip_Drip_out_of(client, a_tap, &env);
        nc_put(&items, "[");
        while (feed != NULL && nearcall_next_drip_Drip_out_of(feed, &item, &env)) {
            nc_put(&items, items.count == 1 ? "" : ", ");
            nc_show_drip_Drop(&items, &item);
            nearcall_free_drip_Drop(&item);
        }
        nc_put(&items, "]");
        nc_same("drip::Drip::out_of", 6, "items", &items, "[{size: 224, colour: \"{\\5c\"}, {size: 216, colour: \"Z\"}, {size: 255, colour: \"\\0a\"}, {size: 224, colo... 885 bytes, hash 979784e933d1efd9");
        nearcall_release_drip_Drip_out_of(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::out_of", 6, "outcome", &outcome, "raised drip::Dry {left: -2147483648}");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
}

static void nc_call_1(const drip_Drip *client) {
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\077", 1);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        items._length = 3;
        items._buffer = nc_memory(3 * sizeof *items._buffer);
        items._buffer[0].size = 255;
        items._buffer[0].colour = nc_text("Z", 1);
        items._buffer[1].size = 46;
        items._buffer[1].colour = nc_text("", 0);
        items._buffer[2].size = 0;
        items._buffer[2].colour = nc_text("", 0);
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_unsigned(&got, returned);
                nc_same("drip::Drip::into", 0, "returned", &got, "3723484662");
            }
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 0, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("", 0);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_unsigned(&got, returned);
                nc_same("drip::Drip::into", 1, "returned", &got, "0");
            }
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 1, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\"\012\360\237\230\200\342\202\254%%\303\251", 11);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        items._length = 31;
        items._buffer = nc_memory(31 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 31; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].size = 0;
                items._buffer[nc_i13].colour = nc_text("", 0);
                break;
            case 1:
                items._buffer[nc_i13].size = 0;
                items._buffer[nc_i13].colour = nc_text("\012", 1);
                break;
            case 2:
                items._buffer[nc_i13].size = 183;
                items._buffer[nc_i13].colour = nc_text("\012\"", 1);
                break;
            }
        }
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_unsigned(&got, returned);
                nc_same("drip::Drip::into", 2, "returned", &got, "2026696102");
            }
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 2, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("\342\202\254\303\251%a%\360\237\230\200a", 230);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        items._length = 63;
        items._buffer = nc_memory(63 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 63; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].size = 0;
                items._buffer[nc_i13].colour = nc_text("{", 1);
                break;
            case 1:
                items._buffer[nc_i13].size = 255;
                items._buffer[nc_i13].colour = nc_text("\"\077", 1);
                break;
            case 2:
                items._buffer[nc_i13].size = 233;
                items._buffer[nc_i13].colour = nc_text("", 0);
                break;
            }
        }
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_unsigned(&got, returned);
                nc_same("drip::Drip::into", 3, "returned", &got, "619051670");
            }
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 3, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("{", 1);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        items._length = 32;
        items._buffer = nc_memory(32 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 32; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].size = 255;
                items._buffer[nc_i13].colour = nc_text("\"", 1);
                break;
            case 1:
                items._buffer[nc_i13].size = 0;
                items._buffer[nc_i13].colour = nc_text("", 0);
                break;
            case 2:
                items._buffer[nc_i13].size = 152;
                items._buffer[nc_i13].colour = nc_text("\077\\", 1);
                break;
            }
        }
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
            {
                nc_shown got = {NULL, 0, 0};
                nc_put_unsigned(&got, returned);
                nc_same("drip::Drip::into", 4, "returned", &got, "916027678");
            }
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 4, "outcome", &outcome, "returned");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text(" {", 1);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 5, "outcome", &outcome, "raised drip::Dry {left: -2147483648}");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
    {
        nearcall_environment env;
        nc_shown outcome = {NULL, 0, 0};
        char *a_tap;
        memset(&a_tap, 0, sizeof a_tap);
        a_tap = nc_text("{%", 1);
        nearcall_feed_drip_Drip_into *feed;
        uint32_t returned;
        memset(&returned, 0, sizeof returned);
        bool is_open;
        nearcall_sequence_drip_Drop items;
        memset(&items, 0, sizeof items);
        items._length = 32;
        items._buffer = nc_memory(32 * sizeof *items._buffer);
        for (uint32_t nc_i13 = 0; nc_i13 < 32; nc_i13++) {
            switch (nc_i13 % 3) {
            case 0:
                items._buffer[nc_i13].size = 61;
                items._buffer[nc_i13].colour = nc_text("a%", 1);
                break;
            case 1:
                items._buffer[nc_i13].size = 0;
                items._buffer[nc_i13].colour = nc_text(" {", 1);
                break;
            case 2:
                items._buffer[nc_i13].size = 132;
                items._buffer[nc_i13].colour = nc_text("", 0);
                break;
            }
        }
        nc_round(1, 7);
        feed = drip_Drip_into(client, a_tap, &env);
        is_open = feed != NULL;
        for (uint32_t i = 0; i < items._length; i++) {
            if (is_open) {
                /* It is the feed's, whatever happens. */
                is_open = nearcall_put_drip_Drip_into(feed, items._buffer[i], &env);
            } else {
                nearcall_free_drip_Drop(&items._buffer[i]);
            }
        }
        nearcall_free(items._buffer);
        if (is_open) {
            returned = nearcall_end_drip_Drip_into(feed, &env);
        }
        nearcall_release_drip_Drip_into(feed);
        if (env.outcome == NEARCALL_RETURNED) {
            nc_put(&outcome, "returned");
        } else if (nearcall_raised_drip_Dry(&env) != NULL) {
            nc_put(&outcome, "raised drip::Dry ");
            nc_show_drip_Dry(&outcome, nearcall_raised_drip_Dry(&env));
        } else {
            nc_put(&outcome, env.message);
        }
        nc_same("drip::Drip::into", 6, "outcome", &outcome, "raised drip::Dry {left: 718462058}");
        nearcall_free(a_tap);
        nearcall_environment_release(&env);
    }
}

int main(int argc, char **argv) {
    nearcall_environment env;
    nearcall_domain *domain = nearcall_domain_new(&env);
    char name[128];
    int status;
    drip_Drip *client_0;
    if (domain == NULL) {
        nc_stop(env.message);
    }
    snprintf(name, sizeof name, "%s-0", argv[argc - 1]);
    client_0 = nearcall_import_drip_Drip(domain, name, &env);
    if (client_0 == NULL) {
        nc_stop(env.message);
    }
    nc_call_0(client_0);
    nc_call_1(client_0);
    status = nc_end(14);
    nearcall_release_drip_Drip(client_0);
    nearcall_domain_shut_down(domain);
    nearcall_domain_release(domain);
    return status;
}
