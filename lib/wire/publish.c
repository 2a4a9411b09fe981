#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "pack.h"
#include "sock_impl.h"

/* A part in use by ZeroMQ, or a free buffer for one. */
struct buffer {
    struct wire_unsent *unsent;
    struct buffer *next; /* in the list of free ones */
    size_t room, bytes;
    uint8_t data[];
};

struct wire_unsent {
    pthread_mutex_t lock;
    struct buffer *unused;
    size_t n;      /* parts in use by ZeroMQ, */
    size_t bytes;  /* and their bytes */
    size_t room;   /* bytes of all buffers, in use and free */
    int is_closed; /* the socket is closed */
};

struct wire_unsent *
wire_unsent_new(void)
{
    struct wire_unsent *unsent = mem_array(1, sizeof *unsent);

    pthread_mutex_init(&unsent->lock, NULL);
    return unsent;
}

/* Frees unused buffers until there is room for so many bytes. */
static void
free_unused(struct wire_unsent *unsent, size_t bytes)
{
    while (unsent->unused && unsent->room + bytes > WIRE_PUBLISHED) {
        struct buffer *buffer = unsent->unused;

        unsent->unused = buffer->next;
        unsent->room -= buffer->room;
        free(buffer);
    }
}

/* Unlocks; frees all if the socket is closed and ZeroMQ uses no buffer. */
static void
unlock_unsent(struct wire_unsent *unsent)
{
    const int is_last = unsent->is_closed && !unsent->n;

    if (is_last)
        free_unused(unsent, WIRE_PUBLISHED);
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
    unsent->is_closed = 1;
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

/* ZeroMQ has released the part. */
static void
release_part(void *data, void *hint)
{
    struct buffer *buffer = hint;
    struct wire_unsent *unsent = buffer->unsent;

    (void)data;
    pthread_mutex_lock(&unsent->lock);
    unsent->n--;
    unsent->bytes -= buffer->bytes;
    buffer->next = unsent->unused;
    unsent->unused = buffer;
    unlock_unsent(unsent);
}

/* A buffer for so many bytes, at most twice as large. */
static struct buffer *
take_buffer(struct wire_unsent *unsent, size_t bytes)
{
    struct buffer **at = &unsent->unused, *buffer;

    while (*at && ((*at)->room < bytes || (*at)->room / 2 > bytes))
        at = &(*at)->next;
    buffer = *at;
    if (buffer) {
        *at = buffer->next;
        return buffer;
    }
    free_unused(unsent, bytes);
    buffer = mem_array(1, sizeof *buffer + bytes);
    buffer->unsent = unsent;
    buffer->room = bytes;
    unsent->room += bytes;
    return buffer;
}

void
wire_unsent_share(struct wire_unsent *unsent, const struct wire_msg *msg,
                  size_t i, zmq_msg_t *part)
{
    const struct wire_part of = wire_msg_part(msg, i);
    struct buffer *buffer;

    if (of.len <= WIRE_PUBLISHED_SMALL) {
        wire_msg_share(msg, i, part);
        return;
    }
    pthread_mutex_lock(&unsent->lock);
    buffer = take_buffer(unsent, of.len);
    buffer->bytes = of.len;
    unsent->n++;
    unsent->bytes += of.len;
    pthread_mutex_unlock(&unsent->lock);
    memcpy(buffer->data, of.data, of.len);
    REQUIRE(zmq_msg_init_data(part, buffer->data, of.len, release_part,
                              buffer) == 0);
}
