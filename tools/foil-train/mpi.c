/* Ranks by MPI, in foil-train-mpi only.  No call blocks within MPI: each is
 * started and then polled, with growing sleeps in between.  So a waiting rank
 * uses no processor time, answers rank 0's questions, and can give up. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"
#include "util/mem.h"
#include "util/opt.h"

static const double spin = 100e-6; // seconds until it sleeps
static const double quiet = 1;     // seconds until it polls for questions
enum {
    CHUNK = 1 << 30, // bytes of a message, as MPI counts by int
    SHORT = 50000,   // ns of sleep within a step
    FIRST = 20000,   // ns of sleep between steps, doubled ..
    LONG = 1000000,  // .. up to this
    HOST = MPI_MAX_PROCESSOR_NAME
};

static struct ranks world;
static double seconds, deadline_s;
static char (*hosts)[HOST];
static MPI_Comm questions;
static int joined;

/* -------------------------------------------------------------- lost ranks */

/* Answers a question of rank 0, which has waited for long. */
static void
answer_question(void)
{
    int asked = 0;

    MPI_Iprobe(0, 0, questions, &asked, MPI_STATUS_IGNORE);
    if (!asked)
        return;
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, questions, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, questions);
}

/* Ends all ranks and prints which ones have not answered within two seconds. */
static void
give_up(void)
{
    const int size = (int)world.size;
    MPI_Request *request = mem_array(world.size, sizeof(MPI_Request));
    const double start = MPI_Wtime();
    int all = 0, silent = 0;

    request[0] = MPI_REQUEST_NULL;
    for (int r = 1; r < size; r++) {
        MPI_Isend(NULL, 0, MPI_BYTE, r, 0, questions, request + r);
        MPI_Request_free(request + r);
        MPI_Irecv(NULL, 0, MPI_BYTE, r, 1, questions, request + r);
    }
    while (!all && MPI_Wtime() < start + 2)
        MPI_Testall(size, request, &all, MPI_STATUSES_IGNORE);
    for (int r = 1; r < size; r++) {
        int there = 1;

        if (request[r] != MPI_REQUEST_NULL)
            MPI_Test(request + r, &there, MPI_STATUS_IGNORE);
        if (!there)
            log_message(
                "rank %d on %s has not answered for %.0f s: all ranks end; "
                "--resume continues from the last checkpoint",
                r, hosts[r], deadline_s);
        silent += !there;
    }
    if (!silent)
        log_message(
            "all ranks answer, but they have waited for each other for %.0f s",
            deadline_s);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* ------------------------------------------------------------------ waiting */

static void
await_requests(int n, MPI_Request *request, int between_steps)
{
    const double start = MPI_Wtime();
    struct timespec pause = {.tv_nsec = between_steps ? FIRST : SHORT};
    int done = 0;

    for (;;) {
        double waited;

        MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        waited = MPI_Wtime() - start;
        if (done)
            break;
        if (between_steps || waited > spin)
            nanosleep(&pause, NULL);
        if (between_steps && pause.tv_nsec < LONG)
            pause.tv_nsec *= 2;
        if (waited > quiet && world.rank)
            answer_question();
        if (waited > deadline_s && !world.rank)
            give_up();
    }
    seconds += MPI_Wtime() - start;
}

static int
chunk_of(size_t bytes, size_t done)
{
    return bytes <= done          ? 0
           : bytes - done < CHUNK ? (int)(bytes - done)
                                  : CHUNK;
}

static void
bcast_chunks(void *data, size_t bytes, int between_steps)
{
    for (size_t done = 0; done < bytes; done += CHUNK) {
        MPI_Request request;

        MPI_Ibcast((char *)data + done, chunk_of(bytes, done), MPI_BYTE, 0,
                   MPI_COMM_WORLD, &request);
        await_requests(1, &request, between_steps && world.rank);
    }
}

static void
mpi_bcast(void *self, void *data, size_t bytes)
{
    (void)self;
    bcast_chunks(data, bytes, 0);
}

static void
mpi_order(void *self, void *data, size_t bytes)
{
    (void)self;
    bcast_chunks(data, bytes, 1);
}

/* Sends the pieces of all ranks, in chunks, from or to rank 0. */
static void
send_pieces(char *all, const size_t *from, char *own, int out)
{
    const size_t rank = world.rank;
    MPI_Request *request = mem_array(world.size, sizeof(MPI_Request));
    size_t most = 0;

    for (size_t r = rank ? rank : 1; r < (rank ? rank + 1 : world.size); r++)
        if (most < from[r + 1] - from[r])
            most = from[r + 1] - from[r];
    for (size_t done = 0; done < most; done += CHUNK) {
        int n = 0;

        for (size_t r = rank ? rank : 1; r < (rank ? rank + 1 : world.size);
             r++) {
            const int count = chunk_of(from[r + 1] - from[r], done);
            char *data = (rank ? own : all + from[r]) + done;

            if (count && out == !rank)
                MPI_Isend(data, count, MPI_BYTE, rank ? 0 : (int)r, 0,
                          MPI_COMM_WORLD, request + n++);
            else if (count)
                MPI_Irecv(data, count, MPI_BYTE, rank ? 0 : (int)r, 0,
                          MPI_COMM_WORLD, request + n++);
        }
        await_requests(n, request, 0);
    }
    free(request);
}

static void
mpi_scatter(void *self, const void *all, const size_t *from, void *own)
{
    (void)self;
    send_pieces((char *)all, from, own, 1);
}

static void
mpi_gather(void *self, const void *own, const size_t *from, void *all)
{
    (void)self;
    send_pieces(all, from, (char *)own, 0);
}

/* A swap in progress: requests of its chunks. */
struct swap {
    int n;
    MPI_Request request[];
};

static void *
mpi_swap_begin(void *self, size_t peer, int tag, const void *give,
               size_t n_give, void *take, size_t n_take)
{
    const size_t most = n_give > n_take ? n_give : n_take;
    const size_t chunks = most / CHUNK + 1;
    struct swap *swap =
        mem_array(sizeof *swap + 2 * chunks * sizeof *swap->request, 1);

    (void)self;
    for (size_t done = 0; done < most; done += CHUNK) {
        const int out = chunk_of(n_give, done), in = chunk_of(n_take, done);

        if (in)
            MPI_Irecv((char *)take + done, in, MPI_BYTE, (int)peer, tag,
                      MPI_COMM_WORLD, swap->request + swap->n++);
        if (out)
            MPI_Isend((const char *)give + done, out, MPI_BYTE, (int)peer, tag,
                      MPI_COMM_WORLD, swap->request + swap->n++);
    }
    return swap;
}

static int
mpi_swap_done(void *self, void *what)
{
    struct swap *swap = what;
    int done = 0;

    (void)self;
    MPI_Testall(swap->n, swap->request, &done, MPI_STATUSES_IGNORE);
    if (done)
        free(swap);
    return done;
}

static void
mpi_swap_end(void *self, void *what)
{
    struct swap *swap = what;

    (void)self;
    await_requests(swap->n, swap->request, 0);
    free(swap);
}

/* ----------------------------------------------------------- start and end */

/* The original stdout and stderr while a rank is silent. */
static int saved_fds[2] = {-1, -1};

/* Returns the rank that a launcher has given this process, or NULL. */
static const char *
launcher_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK"};
    const char *rank = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !rank; i++)
        rank = getenv(names[i]);
    return rank;
}

/* A launcher ends all ranks as soon as one fails: lets rank 0 print its error
 * first.
 */
static void
wait_for_first(void)
{
    const struct timespec pause = {.tv_sec = 2};

    if (saved_fds[0] >= 0)
        nanosleep(&pause, NULL);
}

void
train_ranks_silence(void)
{
    const char *rank = launcher_rank();
    const int follows = rank && strtol(rank, NULL, 10) > 0;
    const int nowhere = follows ? open("/dev/null", O_WRONLY) : -1;

    if (nowhere < 0 || atexit(wait_for_first))
        return;
    for (int i = 0; i < 2; i++) {
        saved_fds[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        dup2(nowhere, i + 1);
    }
    close(nowhere);
}

void
train_ranks_unsilence(void)
{
    for (int i = 0; i < 2; i++) {
        if (saved_fds[i] < 0)
            continue;
        dup2(saved_fds[i], i + 1);
        close(saved_fds[i]);
        saved_fds[i] = -1;
    }
}

int
train_ranks_join(const struct ranks **ranks, double deadline, struct err *err)
{
    char name[HOST] = "";
    int level, rank, size, length;

    *ranks = NULL;
    deadline_s = deadline;
    if (!launcher_rank()) // MPI is not initialised then
        return 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
        return err_set(err, "MPI_Init_thread() failed");
    joined = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &questions);
    world = (struct ranks){.rank = (size_t)rank,
                           .size = (size_t)size,
                           .seconds = &seconds,
                           .bcast = mpi_bcast,
                           .order = mpi_order,
                           .scatter = mpi_scatter,
                           .gather = mpi_gather,
                           .swap_begin = mpi_swap_begin,
                           .swap_done = mpi_swap_done,
                           .swap_end = mpi_swap_end};
    hosts = mem_array(world.size, sizeof *hosts);
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, HOST, MPI_CHAR, hosts, HOST, MPI_CHAR, MPI_COMM_WORLD);
    if (size > 1)
        *ranks = &world;
    return 0;
}

void
train_ranks_leave(void)
{
    if (!joined)
        return;
    joined = 0;
    free(hosts);
    MPI_Comm_free(&questions);
    MPI_Finalize();
}
