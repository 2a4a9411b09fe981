#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "util/mem.h"
#include "wire/msg.h"

#include "pack.h"

void
wire_msg_share(const struct wire_msg *msg, size_t i, zmq_msg_t *part)
{
    zmq_msg_init(part);
    REQUIRE(zmq_msg_copy(part, &msg->parts[i]) == 0);
}

void
wire_part_copy(zmq_msg_t *part, const void *data, size_t len)
{
    REQUIRE(zmq_msg_init_size(part, len) == 0);
    if (len)
        memcpy(zmq_msg_data(part), data, len);
}

struct wire_msg *
wire_msg_hold(struct wire_msg *msg)
{
    msg->holders++;
    return msg;
}

void
wire_msg_free(struct wire_msg *msg)
{
    if (!msg || --msg->holders)
        return;
    for (size_t i = 0; i < msg->n_parts; i++)
        zmq_msg_close(&msg->parts[i]);
    for (size_t i = 0; i < msg->n_tensors; i++)
        free(msg->aligned[i]);
    msgpack_unpacked_destroy(&msg->header);
    mem_free(msg->aligned, msg->tensor, msg->parts, msg);
}

enum wire_kind
wire_msg_kind(const struct wire_msg *msg)
{
    return msg->kind;
}

const char *
wire_msg_role(const struct wire_msg *msg)
{
    return msg->role;
}

size_t
wire_msg_parts(const struct wire_msg *msg)
{
    return msg->n_parts;
}

struct wire_part
wire_msg_part(const struct wire_msg *msg, size_t i)
{
    REQUIRE(i < msg->n_parts);
    return (struct wire_part){zmq_msg_data(&msg->parts[i]),
                              zmq_msg_size(&msg->parts[i])};
}

size_t
wire_msg_bytes(const struct wire_msg *msg)
{
    size_t bytes = 0;

    for (size_t i = 0; i < msg->n_parts; i++)
        bytes += zmq_msg_size(&msg->parts[i]);
    return bytes;
}

size_t
wire_msg_tensors(const struct wire_msg *msg)
{
    return msg->n_tensors;
}

const struct wire_tensor *
wire_msg_tensor(const struct wire_msg *msg, size_t i)
{
    REQUIRE(i < msg->n_tensors);
    return &msg->tensor[i];
}

const struct wire_tensor *
wire_msg_find(const struct wire_msg *msg, const char *name)
{
    for (size_t i = 0; i < msg->n_tensors; i++)
        if (!strcmp(msg->tensor[i].name, name))
            return &msg->tensor[i];
    return NULL;
}
