/* The server of a self-test of drip, seed 1: `drip_selftest_server NAME`, the
 * same name on both sides. To build:
 *
 * cc -std=c11 -o drip_selftest_server drip_selftest_server.c drip.c drip_server.c \
 *    $(pkg-config --cflags --libs nearcall)
 */
#define _POSIX_C_SOURCE 200809L
#define NC_SIDE "server"
#include "drip_selftest.h"

typedef struct nc_feed_0 {
    nearcall_sequence_drip_Drop items;
    uint32_t at;
    unsigned round;
} nc_feed_0;

static void nc_release_0(void *nc_self) {
    nc_feed_0 *feed = (nc_feed_0 *)nc_self;
    for (; feed->at < feed->items._length; feed->at++) {
        nearcall_free_drip_Drop(&feed->items._buffer[feed->at]);
    }
    nearcall_free(feed->items._buffer);
    nearcall_free(feed);
}

static bool nc_next_0(void *nc_self, drip_Drop *nc_item, nearcall_environment *nc_env) {
    nc_feed_0 *feed = (nc_feed_0 *)nc_self;
    (void)nc_env;
    if (feed->at < feed->items._length) {
        *nc_item = feed->items._buffer[feed->at++];
        return true;
    }
    switch (feed->round) {
    case 6: {
        drip_Dry nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.left = (-2147483647 - 1);
        nearcall_raise_drip_Dry(nc_env, nc_raised);
        break;
    }
    }
    return false;
}

static nearcall_items_drip_Drip_out_of nc_run_0(void *nc_self, const char *tap, nearcall_environment *nc_env) {
    nearcall_items_drip_Drip_out_of nc_returned = {NULL, nc_release_0, nc_next_0};
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(0, 7)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 0, "tap", &got, "\"\077\"");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 0;
        feed->items._length = 3;
        feed->items._buffer = nc_memory(3 * sizeof *feed->items._buffer);
        feed->items._buffer[0].size = 254;
        feed->items._buffer[0].colour = nc_text("\\", 1);
        feed->items._buffer[1].size = 172;
        feed->items._buffer[1].colour = nc_text("Z", 1);
        feed->items._buffer[2].size = 12;
        feed->items._buffer[2].colour = nc_text("", 0);
        nc_returned.self = feed;
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 1, "tap", &got, "\"\"");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 1;
        nc_returned.self = feed;
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 2, "tap", &got, "\"\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\2... 338 bytes, hash 6146c800f2968edd");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 2;
        feed->items._length = 31;
        feed->items._buffer = nc_memory(31 * sizeof *feed->items._buffer);
        for (uint32_t nc_i19 = 0; nc_i19 < 31; nc_i19++) {
            switch (nc_i19 % 3) {
            case 0:
                feed->items._buffer[nc_i19].size = 0;
                feed->items._buffer[nc_i19].colour = nc_text("", 0);
                break;
            case 1:
                feed->items._buffer[nc_i19].size = 14;
                feed->items._buffer[nc_i19].colour = nc_text("Z\012", 1);
                break;
            case 2:
                feed->items._buffer[nc_i19].size = 121;
                feed->items._buffer[nc_i19].colour = nc_text("", 0);
                break;
            }
        }
        nc_returned.self = feed;
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 3, "tap", &got, "\"%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%\077\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac... 7592 bytes, hash ab9d48ce18ece797");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 3;
        feed->items._length = 63;
        feed->items._buffer = nc_memory(63 * sizeof *feed->items._buffer);
        for (uint32_t nc_i19 = 0; nc_i19 < 63; nc_i19++) {
            switch (nc_i19 % 3) {
            case 0:
                feed->items._buffer[nc_i19].size = 111;
                feed->items._buffer[nc_i19].colour = nc_text("", 0);
                break;
            case 1:
                feed->items._buffer[nc_i19].size = 0;
                feed->items._buffer[nc_i19].colour = nc_text("", 0);
                break;
            case 2:
                feed->items._buffer[nc_i19].size = 255;
                feed->items._buffer[nc_i19].colour = nc_text(" ", 1);
                break;
            }
        }
        nc_returned.self = feed;
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 4, "tap", &got, "\"\"");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 4;
        feed->items._length = 32;
        feed->items._buffer = nc_memory(32 * sizeof *feed->items._buffer);
        for (uint32_t nc_i19 = 0; nc_i19 < 32; nc_i19++) {
            switch (nc_i19 % 3) {
            case 0:
                feed->items._buffer[nc_i19].size = 4;
                feed->items._buffer[nc_i19].colour = nc_text("\012", 1);
                break;
            case 1:
                feed->items._buffer[nc_i19].size = 0;
                feed->items._buffer[nc_i19].colour = nc_text("", 0);
                break;
            case 2:
                feed->items._buffer[nc_i19].size = 156;
                feed->items._buffer[nc_i19].colour = nc_text("\077", 1);
                break;
            }
        }
        nc_returned.self = feed;
        break;
    }
    case 5: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 5, "tap", &got, "\"\\0a\"");
        }
        drip_Dry nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.left = 0;
        nearcall_raise_drip_Dry(nc_env, nc_raised);
        break;
    }
    case 6: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::out_of", 6, "tap", &got, "\"\\5c%\"");
        }
        nc_feed_0 *feed = (nc_feed_0 *)nc_memory(sizeof *feed);
        feed->round = 6;
        feed->items._length = 32;
        feed->items._buffer = nc_memory(32 * sizeof *feed->items._buffer);
        for (uint32_t nc_i19 = 0; nc_i19 < 32; nc_i19++) {
            switch (nc_i19 % 3) {
            case 0:
                feed->items._buffer[nc_i19].size = 224;
                feed->items._buffer[nc_i19].colour = nc_text("{\\", 1);
                break;
            case 1:
                feed->items._buffer[nc_i19].size = 216;
                feed->items._buffer[nc_i19].colour = nc_text("Z", 1);
                break;
            case 2:
                feed->items._buffer[nc_i19].size = 255;
                feed->items._buffer[nc_i19].colour = nc_text("\012", 1);
                break;
            }
        }
        nc_returned.self = feed;
        break;
    }
    }
    return nc_returned;
}

typedef struct nc_feed_1 {
    nc_shown items;
    unsigned round;
} nc_feed_1;

static void nc_release_1(void *nc_self) {
    nc_feed_1 *feed = (nc_feed_1 *)nc_self;
    free(feed->items.bytes);
    nearcall_free(feed);
}

static void nc_take_1(void *nc_self, const drip_Drop *nc_item, nearcall_environment *nc_env) {
    nc_feed_1 *feed = (nc_feed_1 *)nc_self;
    (void)nc_env;
    nc_put(&feed->items, feed->items.count == 1 ? "" : ", ");
    nc_show_drip_Drop(&feed->items, &(*nc_item));
}

static uint32_t nc_end_1(void *nc_self, nearcall_environment *nc_env) {
    nc_feed_1 *feed = (nc_feed_1 *)nc_self;
    uint32_t nc_returned;
    memset(&nc_returned, 0, sizeof nc_returned);
    (void)nc_env;
    nc_put(&feed->items, "]");
    switch (feed->round) {
    case 0: {
        nc_same("drip::Drip::into", 0, "items", &feed->items, "[{size: 255, colour: \"Z\"}, {size: 46, colour: \"\"}, {size: 0, colour: \"\"}]");
        nc_returned = INT64_C(3723484662);
        break;
    }
    case 1: {
        nc_same("drip::Drip::into", 1, "items", &feed->items, "[]");
        nc_returned = 0;
        break;
    }
    case 2: {
        nc_same("drip::Drip::into", 2, "items", &feed->items, "[{size: 0, colour: \"\"}, {size: 0, colour: \"\\0a\"}, {size: 183, colour: \"\\0a\\22\"}, {size: 0, colour: \"... 823 bytes, hash b57c0017388bb628");
        nc_returned = 2026696102;
        break;
    }
    case 3: {
        nc_same("drip::Drip::into", 3, "items", &feed->items, "[{size: 0, colour: \"{\"}, {size: 255, colour: \"\\22\077\"}, {size: 233, colour: \"\"}, {size: 0, colour: \"{\"... 1638 bytes, hash 0d8538ca8e83b664");
        nc_returned = 619051670;
        break;
    }
    case 4: {
        nc_same("drip::Drip::into", 4, "items", &feed->items, "[{size: 255, colour: \"\\22\"}, {size: 0, colour: \"\"}, {size: 152, colour: \"\077\\5c\"}, {size: 255, colour:... 851 bytes, hash 3dc3f59e399ba183");
        nc_returned = 916027678;
        break;
    }
    case 6: {
        nc_same("drip::Drip::into", 6, "items", &feed->items, "[{size: 61, colour: \"a%\"}, {size: 0, colour: \" {\"}, {size: 132, colour: \"\"}, {size: 61, colour: \"a%\"... 811 bytes, hash 2e71c52dde7c18ed");
        drip_Dry nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.left = 718462058;
        nearcall_raise_drip_Dry(nc_env, nc_raised);
        break;
    }
    }
    memset(&feed->items, 0, sizeof feed->items);
    return nc_returned;
}

static nearcall_taker_drip_Drip_into nc_run_1(void *nc_self, const char *tap, nearcall_environment *nc_env) {
    nearcall_taker_drip_Drip_into nc_returned = {NULL, nc_release_1, nc_take_1, nc_end_1};
    (void)nc_self;
    (void)nc_env;
    switch (nc_round(1, 7)) {
    case 0: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 0, "tap", &got, "\"\077\"");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 0;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    case 1: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 1, "tap", &got, "\"\"");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 1;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    case 2: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 2, "tap", &got, "\"\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%... 387 bytes, hash d83b04df5051abef");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 2;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    case 3: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 3, "tap", &got, "\"\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82... 7132 bytes, hash b6045f56c2ff152f");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 3;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    case 4: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 4, "tap", &got, "\"{\"");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 4;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    case 5: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 5, "tap", &got, "\" {\"");
        }
        drip_Dry nc_raised;
        memset(&nc_raised, 0, sizeof nc_raised);
        nc_raised.left = (-2147483647 - 1);
        nearcall_raise_drip_Dry(nc_env, nc_raised);
        break;
    }
    case 6: {
        {
            nc_shown got = {NULL, 0, 0};
            nc_put_text(&got, tap);
            nc_same("drip::Drip::into", 6, "tap", &got, "\"{%\"");
        }
        nc_feed_1 *feed = (nc_feed_1 *)nc_memory(sizeof *feed);
        feed->round = 6;
        nc_put(&feed->items, "[");
        nc_returned.self = feed;
        break;
    }
    }
    return nc_returned;
}

int main(int argc, char **argv) {
    static const nearcall_server_drip_Drip server_0 = {
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
    clerks[0] = nearcall_export_drip_Drip(domain, name, &server_0, &env);
    if (clerks[0] == NULL) {
        nc_stop(env.message);
    }
    puts("ready");
    fflush(stdout);
    nc_rest();
    nc_wait(14);
    nearcall_domain_shut_down(domain);
    for (size_t i = 0; i < 1; i++) {
        nearcall_clerk_release(clerks[i]);
    }
    nearcall_domain_release(domain);
    return nc_end(14);
}
