/*
 * The client's end of a feed, or of one side of an exchange, as generated functions hold it. While
 * the program is at one batch the server is at the next: the call for it is posted ahead, where
 * there is an A-stack to spare for that (docs/design/0020-streams.md).
 *
 *      asked for          came, not the last          asked for
 *   ───────────────▶ NOW ────────────────────▶ AHEAD ──────────▶ collected, and so on
 *                         none to spare ──────▶ nothing ───────▶ NOW
 *
 * Included by nearcall.h alone.
 */
#ifndef NEARCALL_FEED_H
#define NEARCALL_FEED_H

/* What every feed begins with. */
typedef struct nearcall_feed {
    nearcall_client *client; /* the feed's own, with the deadline that each batch has */
    uint64_t feed;
    uint32_t number; /* of the next batch */
    bool is_over;
    nearcall_posted ahead; /* the batch that the server is at */
} nearcall_feed;

/* A feed of `bytes` bytes for what a call has opened, which had room; null after an error. */
NEARCALL_INLINE void *nearcall_feed_made(const nearcall_client *client, uint64_t number,
                                         size_t bytes, nearcall_environment *environment) {
    nearcall_feed *feed;
    if (environment->outcome != NEARCALL_RETURNED) {
        nearcall_feeds_ended(client, 1);
        return NEARCALL_NULL;
    }
    feed = NEARCALL_CAST(nearcall_feed *, nearcall_allocate_zeroed(bytes));
    if (feed == NEARCALL_NULL) {
        nearcall_give_up_feed(client, number);
        nearcall_no_memory(environment, NEARCALL_RAN_YES);
        return NEARCALL_NULL;
    }
    feed->client = nearcall_client_shared(client);
    feed->feed = number;
    return feed;
}

/* Whether a feed, or the sink of one, is over: it has ended, or a call for a batch of it has failed. */
NEARCALL_INLINE bool nearcall_feed_is_over(const void *feed) {
    return NEARCALL_CAST(const nearcall_feed *, feed)->is_over;
}

/* A call for a batch was posted, or was not: the next one has another number then. */
NEARCALL_INLINE bool nearcall_feed_counted(nearcall_feed *feed, bool is_posted) {
    feed->number += is_posted ? 1 : 0;
    return is_posted;
}

/* It is over: the server has said so. */
NEARCALL_INLINE void nearcall_feed_note_end(nearcall_feed *feed) {
    feed->is_over = true;
    nearcall_feeds_ended(feed->client, 1);
}

/* Tells the server, once. */
NEARCALL_INLINE void nearcall_feed_cancel(nearcall_feed *feed) {
    if (!feed->is_over) {
        feed->is_over = true;
        nearcall_give_up_feed(feed->client, feed->feed);
    }
}

/* A call for a batch has returned: true if there are items. */
NEARCALL_INLINE bool nearcall_feed_came(nearcall_feed *feed, uint32_t procedure, uint32_t count,
                                        bool is_last, nearcall_environment *environment) {
    if (environment->outcome != NEARCALL_RETURNED) {
        nearcall_feed_cancel(feed);
        return false;
    }
    if (count == 0 && !is_last) {
        nearcall_feed_cancel(feed);
        return nearcall_empty_batch(feed->client, procedure, environment);
    }
    if (is_last) {
        nearcall_feed_note_end(feed);
    }
    return count > 0;
}

/* A call with a batch has returned: true if its items were taken. */
NEARCALL_INLINE bool nearcall_feed_went(nearcall_feed *feed, nearcall_environment *environment) {
    if (environment->outcome != NEARCALL_RETURNED) {
        nearcall_feed_cancel(feed);
        return false;
    }
    return true;
}

/* The call that ends it has returned. */
NEARCALL_INLINE void nearcall_feed_ended(nearcall_feed *feed, nearcall_environment *environment) {
    if (nearcall_feed_went(feed, environment)) {
        nearcall_feed_note_end(feed);
    }
}

/* Gives it up if it is not over, and then all of it back. Waits for nothing. What makes its items
 * may wait in the call for a batch, and learns only from that call that nobody wants them. */
NEARCALL_INLINE void nearcall_feed_end(nearcall_feed *feed) {
    nearcall_feed_cancel(feed);
    nearcall_posted_cancel(&feed->ahead);
    nearcall_client_release(feed->client);
    nearcall_free(feed);
}

/* A batch of a feed whose items are judged and written when they are put: how many they are, as it
 * goes before them, and the items. */
typedef struct nearcall_batch_put {
    nearcall_writer items;
    size_t begin; /* of the item that was put last */
    uint32_t count;
} nearcall_batch_put;

/* What a batch may keep of its memory for the next one. */
#define NEARCALL_BATCH_KEPT_BYTES 65536u

/* Where the next item is written. */
NEARCALL_INLINE nearcall_writer *nearcall_batch_item(nearcall_batch_put *batch) {
    const uint32_t later = 0;
    batch->begin = batch->items.count;
    if (batch->begin == 0) {
        nearcall_write(&batch->items, &later, sizeof later);
    }
    return &batch->items;
}

/* There is nothing in it any more. */
NEARCALL_INLINE void nearcall_batch_gone(nearcall_batch_put *batch) {
    batch->count = 0;
    batch->items.count = 0;
    if (batch->items.capacity > NEARCALL_BATCH_KEPT_BYTES) {
        nearcall_free(batch->items.bytes);
        batch->items.bytes = NEARCALL_NULL;
        batch->items.capacity = 0;
    }
}

/* An item was refused: the batch is as it was before it. False, always. */
NEARCALL_COLD bool nearcall_batch_refused(nearcall_batch_put *batch,
                                          nearcall_environment *environment) {
    nearcall_argument_unwritten(environment, &batch->items, "item");
    batch->items.count = batch->begin;
    batch->items.has_breach = false;
    batch->items.has_no_memory = false;
    if (batch->begin == 0) {
        nearcall_batch_gone(batch);
    }
    return false;
}

/* Whether the item was written. */
NEARCALL_INLINE bool nearcall_batch_took(nearcall_batch_put *batch,
                                         nearcall_environment *environment) {
    if (nearcall_is_unwritten(&batch->items)) {
        return nearcall_batch_refused(batch, environment);
    }
    batch->count += 1;
    return true;
}

/* A batch that has items, as it goes. */
NEARCALL_INLINE const nearcall_writer *nearcall_batch_whole(nearcall_batch_put *batch) {
    memcpy(batch->items.bytes, &batch->count, sizeof batch->count);
    return &batch->items;
}

/* An item of a server's that is judged and written, until its batch goes. */
typedef struct nearcall_written {
    uint8_t *bytes; /* of nearcall_allocate */
    size_t count;
} nearcall_written;

NEARCALL_APART void nearcall_free_written(void *item) {
    nearcall_free(NEARCALL_CAST(nearcall_written *, item)->bytes);
}

/* Gives an item to an outlet, which has it from here on, unless it was refused. */
NEARCALL_APART bool nearcall_give_written(nearcall_outlet *outlet, nearcall_writer *writer,
                                          nearcall_environment *environment) {
    const nearcall_written item = {writer->bytes, writer->count};
    if (nearcall_is_unwritten(writer)) {
        nearcall_argument_unwritten(environment, writer, "item");
        nearcall_free(writer->bytes);
        return false;
    }
    return nearcall_outlet_give(outlet, &item, environment);
}

/* Gives an item to the batch that it was made for, unless it was refused. */
NEARCALL_APART bool nearcall_made_written(void *made, nearcall_writer *writer,
                                          const char *procedure,
                                          nearcall_environment *environment) {
    const nearcall_written item = {writer->bytes, writer->count};
    if (!nearcall_is_unwritten(writer)) {
        memcpy(made, &item, sizeof item);
        return true;
    }
    nearcall_free(writer->bytes);
    return writer->has_breach ? nearcall_refuse_item(environment, procedure,
                                                     nearcall_breach_of(writer, "item"))
                              : nearcall_no_memory(environment, NEARCALL_RAN_YES);
}

/* Writes a batch of such items, which are given back. */
NEARCALL_APART void nearcall_write_batch(nearcall_writer *writer, const nearcall_batch *batch) {
    nearcall_written *items = NEARCALL_CAST(nearcall_written *, batch->items);
    nearcall_write(writer, &batch->count, sizeof batch->count);
    for (uint32_t i = 0; i < batch->count; i++) {
        nearcall_write(writer, items[i].bytes, items[i].count);
        nearcall_free(items[i].bytes);
    }
    nearcall_free(items);
}

/* Both sides of the exchange that a call has opened: the feed, then the sink; null both after an
 * error. */
NEARCALL_INLINE void nearcall_sides_made(const nearcall_client *client, const uint64_t numbers[2],
                                         const size_t bytes[2], void *sides[2],
                                         nearcall_environment *environment) {
    sides[0] = NEARCALL_NULL;
    sides[1] = NEARCALL_NULL;
    if (environment->outcome != NEARCALL_RETURNED) {
        nearcall_feeds_ended(client, 2);
        return;
    }
    sides[0] = nearcall_feed_made(client, numbers[0], bytes[0], environment);
    if (sides[0] == NEARCALL_NULL) {
        nearcall_give_up_feed(client, numbers[1]);
        return;
    }
    sides[1] = nearcall_feed_made(client, numbers[1], bytes[1], environment);
    if (sides[1] == NEARCALL_NULL) {
        nearcall_feed_end(NEARCALL_CAST(nearcall_feed *, sides[0]));
        sides[0] = NEARCALL_NULL;
    }
}

#endif
