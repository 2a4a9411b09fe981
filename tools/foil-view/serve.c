#include "watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_args.h"
#include "json_number.h"
#include "util/asset.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"

enum {
    CONNECTIONS = 256,
    PER_ADDRESS = 192, /* connections */
    PENDING = 64,      /* connections without a valid request yet */
    IDLE_S = 120,
    MEMORY = 32768, /* bytes for the header of a request and its answer */
    NAMES = 2
};

static const double poll_every_s = 1, ping_every_s = 5;

struct serve {
    struct MHD_Daemon *daemon;
    struct watch *watch;
    const char *token;
    const char *name[NAMES]; /* of this host; or NULL */
    int pending[PENDING];    /* sockets; -1: none */
    size_t oldest;           /* in pending, which the next one replaces */
    double pinged;           /* when hub_ping() was called last */
};

/* A status code, and a body of a media type, which the response frees. */
struct answer {
    unsigned code;
    const char *type;
    char *body;
    size_t size;
};

static struct answer
refuse_request(unsigned code, const char *why)
{
    char *text = mem_format("%s\n", why);

    return (struct answer){code, "text/plain; charset=utf-8", text,
                           strlen(text)};
}

/* There is none, or no longer.  Not 404, which a browser logs as an error. */
static struct answer
answer_nothing(void)
{
    return (struct answer){MHD_HTTP_NO_CONTENT, "", mem_text(""), 0};
}

static struct answer
answer_json(json_t *object)
{
    char *text = json_number_text(object);

    if (!text)
        return refuse_request(MHD_HTTP_INTERNAL_SERVER_ERROR, "no JSON");
    return (struct answer){MHD_HTTP_OK, "application/json", text, strlen(text)};
}

static struct answer
answer_picture(int rc, struct data_bytes *jpeg, const struct err *err)
{
    if (!rc)
        return (struct answer){MHD_HTTP_OK, "image/jpeg", (char *)jpeg->data,
                               jpeg->len};
    data_bytes_release(jpeg);
    return refuse_request(MHD_HTTP_NOT_FOUND, err->msg);
}

static int64_t
find_argument(struct MHD_Connection *connection, const char *name)
{
    const char *end;
    const char *text =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    const int64_t number = http_args_digits(text, &end);

    return text && !*end ? number : -1;
}

/* Answers requests about a batch.  One without embeddings has no anchors. */
static struct answer
answer_batch(struct serve *serve, struct MHD_Connection *connection,
             const char *path)
{
    const struct batch_view *batch =
        watch_batch(serve->watch, find_argument(connection, "epoch"),
                    find_argument(connection, "step"));
    struct data_bytes jpeg = {0};
    struct err err;
    int64_t row;

    if (!batch)
        return refuse_request(MHD_HTTP_NOT_FOUND, "there is no such batch");
    if (!strcmp(path, "batch"))
        return answer_json(watch_batch_json(serve->watch, batch));
    if (!strcmp(path, "sprite"))
        return answer_picture(
            picture_batch(&serve->watch->pictures, batch, &jpeg, &err), &jpeg,
            &err);
    watch_make(serve->watch, batch);
    if (!batch->z)
        return answer_nothing();
    if (strcmp(path, "anchor"))
        return answer_json(batch_view_embeddings(batch));
    row = find_argument(connection, "row");
    if (row < 0 || (size_t)row >= batch->n * batch->views)
        return refuse_request(MHD_HTTP_NOT_FOUND, "there is no such row");
    if (find_argument(connection, "pin") == 1)
        batch_cache_pin(&serve->watch->cache, batch);
    return answer_json(watch_anchor(serve->watch, batch, (size_t)row));
}

/* A damaged image of the data set has no picture. */
static struct answer
answer_view(struct serve *serve, struct MHD_Connection *connection)
{
    struct pictures *pictures = &serve->watch->pictures;
    const struct data_set *set = pictures_set(pictures, NULL);
    struct picture_name name[PICTURE_LIST] = {{0}};
    const char *v =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "v");
    const size_t n = v ? http_args_names(v, name) : 0;
    struct data_bytes jpeg = {0};
    struct err err;
    int rc;

    if (!n)
        return refuse_request(MHD_HTTP_BAD_REQUEST,
                              "v needs ID.EPOCH.VIEW or ID,..., 64 at most");
    rc = picture_draw(pictures, name, n, PICTURE_LIST_COLUMNS, &jpeg, &err);
    return rc && set && (size_t)name->id < data_size(set)
               ? answer_nothing()
               : answer_picture(rc, &jpeg, &err);
}

/* Answers with a frame of the map, or with the points of all frames. */
static struct answer
answer_map(struct serve *serve, struct MHD_Connection *connection,
           const char *path)
{
    struct watch *watch = serve->watch;
    const int64_t epoch = find_argument(connection, "epoch");
    const struct data_set *set = pictures_set(&watch->pictures, NULL);
    size_t size;
    void *bytes = strcmp(path, "map")
                      ? map_frames_find(watch->maps, epoch, &size)
                      : map_frames_labels(watch->maps, set, &size);

    if (bytes)
        return (struct answer){MHD_HTTP_OK, "application/octet-stream", bytes,
                               size};
    return epoch < 0
               ? refuse_request(MHD_HTTP_NOT_FOUND, "there is no such frame")
               : answer_nothing();
}

static const char *
type_of(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
    };
    const char *end = strrchr(name, '.');

    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
        if (!strcmp(end, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

static struct answer
answer_asset(const char *name)
{
    for (const struct asset *asset = assets; asset->name; asset++)
        if (!strcmp(asset->name, *name ? name : "index.html")) {
            char *copy = mem_array(asset->size + 1, 1);

            memcpy(copy, asset->bytes, asset->size);
            return (struct answer){MHD_HTTP_OK, type_of(asset->name), copy,
                                   asset->size};
        }
    return refuse_request(MHD_HTTP_NOT_FOUND, "there is no such page");
}

static struct answer
answer_path(struct serve *serve, struct MHD_Connection *connection,
            const char *path)
{
    struct answer page = {MHD_HTTP_OK, "text/html; charset=utf-8", NULL, 0};

    if (opt_index("batch|sprite|embeddings|anchor", path) >= 0)
        return answer_batch(serve, connection, path);
    if (!strcmp(path, "all"))
        return answer_json(watch_json(serve->watch));
    if (!strcmp(path, "view"))
        return answer_view(serve, connection);
    if (!strcmp(path, "map") || !strcmp(path, "frame"))
        return answer_map(serve, connection, path);
    if (strcmp(path, "export"))
        return answer_asset(path);
    page.body = export_page(serve->watch, &page.size);
    return page;
}

/* Returns the path after the token, or NULL. */
static const char *
find_path(const struct serve *serve, const char *url)
{
    const char *path = url + (*url == '/');
    const size_t n = strcspn(path, "/");

    if (!*serve->token)
        return path;
    return http_args_token(serve->token, path, n) && path[n] ? path + n + 1
                                                             : NULL;
}

/* Returns the status code of a refused request, or 0. */
static unsigned
check_request(struct serve *serve, struct MHD_Connection *connection,
              const char *method, const char *path, const char **why)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

    *why = "the request has no Host header";
    if (!host)
        return MHD_HTTP_BAD_REQUEST;
    *why = "the method must be GET";
    if (strcmp(method, "GET"))
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    *why = "Host must be localhost, this host's name or a numeric address";
    if (!http_args_host(host, serve->name, NAMES))
        return MHD_HTTP_FORBIDDEN;
    *why = "the address is http://HOST:PORT/TOKEN/, as foil view printed it";
    if (!path)
        return MHD_HTTP_FORBIDDEN;
    return 0;
}

/* Sends a response and frees it; NULL: there was no memory for it. */
static enum MHD_Result
send_response(struct MHD_Connection *connection, struct MHD_Response *response,
              unsigned code, const char *type)
{
    static const char *const header[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy",
         "default-src 'self'; img-src 'self' data: blob:; "
         "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"},
    };
    enum MHD_Result rc;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        MHD_add_response_header(response, header[i][0], header[i][1]);
    if (*type)
        MHD_add_response_header(response, "Content-Type", type);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET");
    rc = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return rc;
}

static int
find_socket(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection,
                                   MHD_CONNECTION_INFO_CONNECTION_FD)
        ->connect_fd;
}

static void
remove_pending(struct serve *serve, struct MHD_Connection *connection)
{
    const int fd = find_socket(connection);

    for (int i = 0; i < PENDING; i++)
        if (serve->pending[i] == fd)
            serve->pending[i] = -1;
}

/* Adds a new connection to the pending ones, and shuts down the oldest of them
 * beyond PENDING: unfinished requests cannot use up all connections.  MHD
 * closes a connection after its socket was shut down. */
static void
note_connection(void *self, struct MHD_Connection *connection, void **ours,
                enum MHD_ConnectionNotificationCode code)
{
    struct serve *serve = self;
    int *at = serve->pending + serve->oldest;

    (void)ours;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        remove_pending(serve, connection);
        return;
    }
    if (*at >= 0)
        shutdown(*at, SHUT_RDWR);
    *at = find_socket(connection);
    serve->oldest = (serve->oldest + 1) % PENDING;
}

static enum MHD_Result
answer_request(void *self, struct MHD_Connection *connection, const char *url,
               const char *method, const char *version, const char *upload,
               size_t *upload_size, void **state)
{
    struct serve *serve = self;
    const char *path = find_path(serve, url), *why;
    unsigned code = check_request(serve, connection, method, path, &why);
    struct MHD_Response *response = NULL;
    struct answer answer = {MHD_HTTP_OK, "text/event-stream", NULL, 0};

    (void)version;
    (void)upload;
    (void)state;
    if (*upload_size) { // the body of a request is ignored
        *upload_size = 0;
        return MHD_YES;
    }
    if (!code)
        remove_pending(serve, connection);
    if (!code && !strcmp(path, "events")) {
        response = hub_answer(serve->watch->hub, connection);
        code = response ? 0 : MHD_HTTP_SERVICE_UNAVAILABLE;
        why = "too many pages are open";
    }
    if (!response) {
        answer = code ? refuse_request(code, why)
                      : answer_path(serve, connection, path);
        response = MHD_create_response_from_buffer(answer.size, answer.body,
                                                   MHD_RESPMEM_MUST_FREE);
        if (!response)
            free(answer.body);
    }
    return send_response(connection, response, answer.code, answer.type);
}

/* Starts the daemon at an address.  The stage's loop then also waits for it. */
static void
listen_at(struct serve *serve, const char *address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die("'%s' is no address: want a number, as 127.0.0.1 or 0.0.0.0",
            address);
    errno = 0;
    serve->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL,
        answer_request, serve, MHD_OPTION_SOCK_ADDR, &to,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)PER_ADDRESS,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, serve,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
    if (!serve->daemon)
        die("cannot listen at %s, port %d: %s; --port takes another", address,
            port, strerror(errno));
    stage_watch(
        &serve->watch->stage,
        MHD_get_daemon_info(serve->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
}

static double
choose_pause(void *self)
{
    const struct serve *serve = self;
    MHD_UNSIGNED_LONG_LONG ms;

    return MHD_get_timeout(serve->daemon, &ms) == MHD_YES
               ? fmin(poll_every_s, (double)ms / 1000)
               : poll_every_s;
}

static int
take_turn(void *self)
{
    struct serve *serve = self;

    watch_poll(serve->watch);
    if (clock_now() - serve->pinged > ping_every_s) {
        serve->pinged = clock_now();
        hub_ping(serve->watch->hub);
    }
    MHD_run(serve->daemon);
    return 1;
}

void
serve_page(struct watch *watch, const char *address, uint16_t port,
           const char *token)
{
    static const struct stage_handlers handlers = {choose_pause, take_turn,
                                                   NULL};
    char host[256] = "";
    struct serve serve = {
        .watch = watch, .token = token, .name = {"localhost"}};

    for (int i = 0; i < PENDING; i++)
        serve.pending[i] = -1;
    if (strncmp(address, "127.", 4) && !gethostname(host, sizeof host - 1))
        serve.name[1] = host;
    listen_at(&serve, address, port);
    printf("http://%s:%d/%s%s\n", address,
           MHD_get_daemon_info(serve.daemon, MHD_DAEMON_INFO_BIND_PORT)->port,
           token, *token ? "/" : "");
    fflush(stdout);
    stage_run(&watch->stage, &handlers, &serve);
    hub_end(watch->hub);
    MHD_run(serve.daemon);
    MHD_stop_daemon(serve.daemon);
}
