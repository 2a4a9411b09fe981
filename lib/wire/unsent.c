#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/sock.h"

#include "raw.h"
#include "unsent.h"

/* A part that ZeroMQ holds, or room for one. */
struct held {
    struct wire_unsent *unsent;
    struct held *next; /* of those that are free */
    size_t room, bytes;
    uint8_t data[];
};

struct wire_unsent {
    pthread_mutex_t lock;
    struct held *free;
    size_t n;     /* parts that ZeroMQ holds */
    size_t bytes; /* of them */
    size_t room;  /* of them and of those that are free */
    int is_over;  /* nobody publishes any more */
};

struct wire_unsent *
wire_unsent_new(void)
{
    struct wire_unsent *unsent = mem_array(1, sizeof *unsent);

    pthread_mutex_init(&unsent->lock, NULL);
    return unsent;
}

/* Frees what is free, until so many bytes would have room. */
static void
free_sent(struct wire_unsent *unsent, size_t bytes)
{
    while (unsent->free && unsent->room + bytes > WIRE_PUBLISHED) {
        struct held *held = unsent->free;

        unsent->free = held->next;
        unsent->room -= held->room;
        free(held);
    }
}

/* Unlocks, and frees all when it is over and ZeroMQ holds nothing. */
static void
unlock_unsent(struct wire_unsent *unsent)
{
    const int is_last = unsent->is_over && !unsent->n;

    if (is_last)
        free_sent(unsent, WIRE_PUBLISHED);
    pthread_mutex_unlock(&unsent->lock);
    if (!is_last)
        return;
    pthread_mutex_destroy(&unsent->lock);
    free(unsent);
}

void
wire_unsent_free(struct wire_unsent *unsent)
{
    if (!unsent)
        return;
    pthread_mutex_lock(&unsent->lock);
    unsent->is_over = 1;
    unlock_unsent(unsent);
}

size_t
wire_unsent_bytes(struct wire_unsent *unsent)
{
    size_t bytes;

    pthread_mutex_lock(&unsent->lock);
    bytes = unsent->bytes;
    pthread_mutex_unlock(&unsent->lock);
    return bytes;
}

/* Nobody has the part any more. */
static void
let_go(void *data, void *hint)
{
    struct held *held = hint;
    struct wire_unsent *unsent = held->unsent;

    (void)data;
    pthread_mutex_lock(&unsent->lock);
    unsent->n--;
    unsent->bytes -= held->bytes;
    held->next = unsent->free;
    unsent->free = held;
    unlock_unsent(unsent);
}

/* Room for so many bytes, and for no more than twice as many. */
static struct held *
take_room(struct wire_unsent *unsent, size_t bytes)
{
    struct held **at = &unsent->free, *held;

    while (*at && ((*at)->room < bytes || (*at)->room / 2 > bytes))
        at = &(*at)->next;
    held = *at;
    if (held) {
        *at = held->next;
        return held;
    }
    free_sent(unsent, bytes);
    held = mem_array(1, sizeof *held + bytes);
    held->unsent = unsent;
    held->room = bytes;
    unsent->room += bytes;
    return held;
}

void
wire_unsent_share(struct wire_unsent *unsent, const struct wire_msg *msg,
                  size_t i, zmq_msg_t *part)
{
    const struct wire_part of = wire_msg_part(msg, i);
    struct held *held;

    if (of.len <= WIRE_PUBLISHED_SMALL) {
        wire_msg_share(msg, i, part);
        return;
    }
    pthread_mutex_lock(&unsent->lock);
    held = take_room(unsent, of.len);
    held->bytes = of.len;
    unsent->n++;
    unsent->bytes += of.len;
    pthread_mutex_unlock(&unsent->lock);
    memcpy(held->data, of.data, of.len);
    REQUIRE(zmq_msg_init_data(part, held->data, of.len, let_go, held) == 0);
}
