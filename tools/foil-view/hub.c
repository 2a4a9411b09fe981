#include "hub.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_number.h"
#include "util/mem.h"

enum { RING = 256, BLOCK = 16384 };

struct page {
    struct hub *hub;
    struct MHD_Connection *connection;
    uint64_t at;   /* number of the message that is being sent */
    size_t offset; /* bytes of it that were sent */
    int used, asleep;
    char gap[64]; /* text between two messages, and how much of it was sent */
    size_t gap_size, gap_offset;
};

struct hub {
    struct page page[HUB_PAGES];
    char *text[RING];
    size_t size[RING];
    uint64_t published; /* messages */
    int closed;
};

struct hub *
hub_open(void)
{
    struct hub *hub = mem_array(1, sizeof *hub);

    for (int i = 0; i < HUB_PAGES; i++)
        hub->page[i].hub = hub;
    return hub;
}

static void
wake_pages(struct hub *hub)
{
    for (struct page *page = hub->page; page < hub->page + HUB_PAGES; page++)
        if (page->asleep) {
            page->asleep = 0;
            MHD_resume_connection(page->connection);
        }
}

void
hub_publish(struct hub *hub, const char *event, json_t *object)
{
    const size_t at = hub->published % RING;
    char *data = json_number_text(object);

    if (data && hub_pages(hub)) {
        hub->published++;
        free(hub->text[at]);
        hub->text[at] = mem_format("id: %ju\nevent: %s\ndata: %s\n\n",
                                   (uintmax_t)hub->published, event, data);
        hub->size[at] = strlen(hub->text[at]);
        wake_pages(hub);
    }
    free(data);
}

/* Writes the text between two messages: the number of lost messages, or for 0 a
 * comment that keeps the connection alive. */
static void
put_gap(struct page *page, uint64_t lost)
{
    page->gap_size = (size_t)snprintf(
        page->gap, sizeof page->gap,
        lost ? "event: gap\ndata: {\"lost\":%ju}\n\n" : ":\n\n",
        (uintmax_t)lost);
    page->gap_offset = 0;
}

void
hub_ping(struct hub *hub)
{
    for (struct page *page = hub->page; page < hub->page + HUB_PAGES; page++)
        if (page->asleep && page->gap_offset == page->gap_size)
            put_gap(page, 0);
    wake_pages(hub);
}

size_t
hub_pages(const struct hub *hub)
{
    size_t n = 0;

    for (int i = 0; i < HUB_PAGES; i++)
        n += (size_t)hub->page[i].used;
    return n;
}

static ssize_t
copy_part(char *to, size_t room, const char *text, size_t size, size_t *offset)
{
    const size_t left = size - *offset, n = left < room ? left : room;

    memcpy(to, text + *offset, n);
    *offset += n;
    return (ssize_t)n;
}

static ssize_t
read_stream(void *self, uint64_t position, char *to, size_t room)
{
    struct page *page = self;
    struct hub *hub = page->hub;
    const int lapped = hub->published - page->at > RING;
    size_t at;
    ssize_t n;

    (void)position;
    if (hub->closed || (lapped && page->offset)) // half a message is lost
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (lapped) { // go on with the oldest message of the ring
        put_gap(page, hub->published - RING - page->at);
        page->at = hub->published - RING;
    }
    if (page->gap_offset < page->gap_size)
        return copy_part(to, room, page->gap, page->gap_size,
                         &page->gap_offset);
    if (page->at == hub->published) {
        page->asleep = 1;
        MHD_suspend_connection(page->connection);
        return 0;
    }
    at = page->at % RING;
    n = copy_part(to, room, hub->text[at], hub->size[at], &page->offset);
    if (page->offset == hub->size[at]) {
        page->at++;
        page->offset = 0;
    }
    return n;
}

static void
close_page(void *self)
{
    struct page *page = self;

    page->used = page->asleep = 0;
}

struct MHD_Response *
hub_answer(struct hub *hub, struct MHD_Connection *connection)
{
    struct MHD_Response *answer;
    struct page *page = hub->page;

    while (page < hub->page + HUB_PAGES && page->used)
        page++;
    if (page == hub->page + HUB_PAGES)
        return NULL;
    *page = (struct page){
        .hub = hub, .connection = connection, .at = hub->published, .used = 1};
    put_gap(page, 0);
    answer = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
                                               read_stream, page, close_page);
    if (!answer)
        page->used = 0;
    return answer;
}

void
hub_end(struct hub *hub)
{
    hub->closed = 1;
    wake_pages(hub);
}

void
hub_close(struct hub *hub)
{
    for (int i = 0; i < RING; i++)
        free(hub->text[i]);
    free(hub);
}
