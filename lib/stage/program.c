#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage/process.h"
#include "stage/program.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/terminal.h"

enum {
    LONGEST = 4096, // default of the config's `longest`
    HELD = 65536,   // maximum bytes of standard error buffered for a line's end
    SHOWN = 1024,   // maximum bytes printed of a line of standard error
    BURST = 200,    // maximum such lines printed in a period
    LATEST = 10,    // of further lines, print the last ones
    READS = 2,      // reads of standard error at once: a full pipe
    LOOK_MS = 100,  // between checks that the program is alive
    PIECE = 65536,  // bytes of one read
    DESCRIPTOR = 10, // the stage uses none below it: the program has 0 to 3
};

static const double close_s = 3;   // to end after its input was closed
static const double ask_s = 1;     // to end after SIGTERM or its output's end
static const double killed_s = 1;  // to end after the stage was killed
static const double period_s = 10; // over which lines are counted

/* A queue of bytes, as from a pipe; the first `from` of them are consumed. */
struct bytes {
    char *at;
    size_t from, n, room;
    size_t scanned; // no '\n' from `from` up to here
};

struct stage_program {
    struct stage_program_config config; // without its line
    char *line;
    struct stage_process process;
    int in, out, errors; // pipes to its descriptors 0, 1, 2; -1: closed
    struct bytes to, answer, error_text;
    double since;         // when the period began
    size_t printed;       // lines of standard error printed in it,
    size_t left_out;      // and further lines
    char *latest[LATEST]; // line i of `left_out` is at [i % LATEST]
    size_t pending;       // unanswered requests
    size_t lines;         // of the current answer so far
    int late;             // 1: time is over; read only what is in the pipe
    int lost, answered_early;
    int misplaced; // 1: a line of standard error looks like an answer
    int memory;
    void *map;
    size_t size;
};

static void
clear_bytes(struct bytes *bytes)
{
    bytes->from = bytes->n = bytes->scanned = 0;
}

static void
add_bytes(struct bytes *bytes, const char *text, size_t n)
{
    // drop the consumed bytes once they are half of all
    if (bytes->from > bytes->n / 2 || bytes->from == bytes->n) {
        bytes->n -= bytes->from;
        bytes->scanned -= bytes->from;
        if (bytes->n)
            memmove(bytes->at, bytes->at + bytes->from, bytes->n);
        bytes->from = 0;
    }
    mem_grow(&bytes->at, &bytes->room, bytes->n + n, 1);
    memcpy(bytes->at + bytes->n, text, n);
    bytes->n += n;
}

/* Returns the next complete line, with 0 for its '\n', or NULL; it is valid
 * until more is added.  *n is its length, which may include further 0 bytes. */
static char *
next_line(struct bytes *bytes, size_t *n)
{
    char *line, *end = NULL;

    if (bytes->scanned < bytes->n)
        end =
            memchr(bytes->at + bytes->scanned, '\n', bytes->n - bytes->scanned);
    if (!end) {
        bytes->scanned = bytes->n;
        return NULL;
    }
    line = bytes->at + bytes->from;
    *n = (size_t)(end - line);
    *end = 0;
    bytes->from = bytes->scanned = (size_t)(end - bytes->at) + 1;
    return line;
}

/* Reads from a non-blocking descriptor: 1 if there may be more, 0 if there is
 * nothing now, -1 at the end or on error. */
static int
read_bytes(int fd, struct bytes *bytes)
{
    char piece[PIECE];
    ssize_t n;

    do
        n = read(fd, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        add_bytes(bytes, piece, (size_t)n);
    return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}

static void
close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Prints a line and frees it. */
static void
print_line(const struct stage_program *p, char *line)
{
    p->config.print(p->config.tool, line);
    free(line);
}

/* Prints the number of lines left out, and the last of them, which may show
 * why the program ended. */
static void
end_period(struct stage_program *p)
{
    const size_t n = p->left_out,
                 first = n > LATEST ? n - LATEST : 0; // first one still stored

    p->left_out = p->printed = 0;
    p->since = clock_now();
    if (first)
        print_line(p, mem_format("%s: %zu line%s of its standard error left "
                                 "out",
                                 p->config.name, first, plural(first)));
    for (size_t i = first; i < n; i++) {
        print_line(p, p->latest[i % LATEST]);
        p->latest[i % LATEST] = NULL;
    }
}

/* Returns the text after a line's first word, or NULL if that is not `word`. */
static const char *
text_after(const char *line, const char *word)
{
    const size_t n = strlen(word);

    if (strncmp(line, word, n) || (line[n] && line[n] != ' '))
        return NULL;
    return line + n + (line[n] == ' ');
}

/* Prints what a terminal would show of a line with carriage returns. */
static void
print_last_state(struct stage_program *p, char *text)
{
    char *again, *line, **latest;

    while ((again = strrchr(text, '\r')) && !again[1])
        *again = 0;
    if (again)
        text = again + 1;
    if (text_after(text, "ok") || text_after(text, "error"))
        p->misplaced = 1;
    if (!*text || !p->config.print)
        return;
    line = mem_format("%s: %.*s", p->config.name, SHOWN, text);
    defuse(line);
    if (p->printed++ < BURST) {
        print_line(p, line);
        return;
    }
    latest = &p->latest[p->left_out++ % LATEST];
    free(*latest);
    *latest = line;
}

/* Prints its standard error so far; also an incomplete line if it is long. */
static void
pass_on_messages(struct stage_program *p)
{
    char *line;
    size_t n;
    int more = 1;

    if (clock_now() - p->since >= period_s)
        end_period(p);
    for (int i = 0; i < READS && p->errors >= 0 && more > 0; i++) {
        more = read_bytes(p->errors, &p->error_text);
        while ((line = next_line(&p->error_text, &n)))
            print_last_state(p, line);
        if (more < 0 || p->error_text.n - p->error_text.from > HELD) {
            add_bytes(&p->error_text, "", 1);
            print_last_state(p, p->error_text.at + p->error_text.from);
            clear_bytes(&p->error_text);
        }
        if (more < 0)
            close_end(&p->errors);
    }
}

/* Opens a pipe; *ours is its end 0 to read or 1 to write, and does not
 * block. */
static int
open_pipe(int ours[1], int theirs[1], int end)
{
    int fd[2], ok;

    *ours = *theirs = -1;
    if (pipe2(fd, O_CLOEXEC))
        return -1;
    *ours = fcntl(fd[end], F_DUPFD_CLOEXEC, DESCRIPTOR);
    *theirs = fcntl(fd[!end], F_DUPFD_CLOEXEC, DESCRIPTOR);
    ok = *ours >= 0 && *theirs >= 0 && !fcntl(*ours, F_SETFL, O_NONBLOCK);
    close(fd[0]);
    close(fd[1]);
    return ok ? 0 : -1;
}

static int
start_shell(struct stage_program *p, const int fd[4], struct err *err)
{
    static char sh[] = "sh", option[] = "-c",
                start[] = "FOIL_MEMORY=/proc/self/fd/3; export FOIL_MEMORY; "
                          "exec sh -c \"$0\"";
    char *argv[] = {sh, option, start, p->line, NULL};
    const struct stage_process_config config = {
        .argv = argv,
        .fd = fd,
        .n_fd = 4,
        .ask = STAGE_TERMINATE_INPUT,
        .signal = SIGTERM,
        .grace_s = killed_s,
    };

    errno = stage_process_start(&p->process, &config);
    return errno ? err_sys(err, "cannot start '%.200s'", p->line) : 0;
}

static int
start_program(struct stage_program *p, struct err *err)
{
    int theirs[4] = {-1, -1, -1, p->memory};
    int rc;

    if (open_pipe(&p->in, &theirs[0], 1) || open_pipe(&p->out, &theirs[1], 0) ||
        open_pipe(&p->errors, &theirs[2], 0))
        rc = err_sys(err, "cannot start '%.200s'", p->line);
    else
        rc = start_shell(p, theirs, err);
    for (int i = 0; i < 3; i++)
        close_end(&theirs[i]);
    clear_bytes(&p->to);
    clear_bytes(&p->answer);
    clear_bytes(&p->error_text);
    p->pending = p->lines = 0;
    p->answered_early = p->misplaced = 0;
    p->lost = rc != 0;
    return rc;
}

/* Waits until it has ended, prints its standard error, discards its output. */
static int
ends_within(struct stage_program *p, double seconds)
{
    const double until = clock_now() + seconds;
    struct pollfd fd[2];

    while (!stage_process_ended(&p->process) && clock_now() < until) {
        fd[0] = (struct pollfd){.fd = p->errors, .events = POLLIN};
        fd[1] = (struct pollfd){.fd = p->out, .events = POLLIN};
        poll(fd, 2, p->out < 0 || p->errors < 0 ? 5 : 20);
        pass_on_messages(p);
        if (p->out >= 0 && read_bytes(p->out, &p->answer) < 0)
            close_end(&p->out);
        clear_bytes(&p->answer);
    }
    return stage_process_ended(&p->process);
}

/* Ends the program with all its descendants. */
static void
end_program(struct stage_program *p)
{
    close_end(&p->in);
    if (p->process.pid && !p->lost &&
        !ends_within(p, p->pending ? ask_s : close_s)) {
        stage_process_terminate(&p->process);
        ends_within(p, ask_s);
    }
    stage_process_end(&p->process, 0);
    pass_on_messages(p);
    end_period(p);
    close_end(&p->out);
    close_end(&p->errors);
}

struct stage_program *
stage_program_open(const struct stage_program_config *config, struct err *err)
{
    struct stage_program *p = mem_array(1, sizeof *p);
    int fd;

    p->config = *config;
    p->line = mem_text(config->line);
    if (!p->config.longest)
        p->config.longest = LONGEST;
    p->in = p->out = p->errors = -1;
    signal(SIGPIPE, SIG_IGN);
    fd = memfd_create("foil", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    p->memory = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR);
    if (fd >= 0)
        close(fd);
    if (p->memory < 0 || fcntl(p->memory, F_ADD_SEALS, F_SEAL_SHRINK))
        err_sys(err, "cannot share memory with '%.200s'", p->line);
    else if (!start_program(p, err))
        return p;
    stage_program_close(p);
    return NULL;
}

void
stage_program_close(struct stage_program *p)
{
    if (!p)
        return;
    end_program(p);
    if (p->map)
        munmap(p->map, p->size);
    close_end(&p->memory);
    mem_free(p->to.at, p->answer.at, p->error_text.at, p->line, p);
}

int
stage_program_restart(struct stage_program *p, struct err *err)
{
    end_program(p);
    return start_program(p, err);
}

void *
stage_program_memory(struct stage_program *p, size_t bytes, struct err *err)
{
    void *map = MAP_FAILED;

    REQUIRE(bytes && !p->pending);
    if (bytes <= p->size)
        return p->map;
    if (bytes <= PTRDIFF_MAX && !ftruncate(p->memory, (off_t)bytes))
        map =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->memory, 0);
    if (map == MAP_FAILED) {
        err_sys(err, "cannot share %zu bytes with '%.200s'", bytes, p->line);
        return NULL;
    }
    if (p->map)
        munmap(p->map, p->size);
    p->map = map;
    p->size = bytes;
    return map;
}

/* Sets err to a text from the program, made safe to print; frees the text. */
static void
set_harmless(struct err *err, char *text)
{
    defuse(text);
    err_set(err, "%s", text);
    free(text);
}

/* Ends the program; the message has its name, its line and `why`. */
static enum stage_outcome
lose_program(struct stage_program *p, struct err *err, const char *why)
{
    p->lost = 1;
    end_program(p);
    p->pending = 0;
    set_harmless(
        err, mem_format("%s: '%.100s' %s%s", p->config.name, p->line, why,
                        p->misplaced ? "; its 'ok' or 'error' came on standard "
                                       "error, not standard output"
                                     : ""));
    return STAGE_LOST;
}

/* Reports how it ended, or that it closed its output. */
static enum stage_outcome
lose_ended(struct stage_program *p, struct err *err)
{
    char why[128] = "has closed its output without an answer";

    if (ends_within(p, ask_s)) {
        int status, code;

        stage_process_end(&p->process, 0);
        status = p->process.status;
        code = stage_process_code(status);
        if (WIFSIGNALED(status))
            snprintf(why, sizeof why, "was ended by signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else
            snprintf(why, sizeof why, "ended with code %d before it answered%s",
                     code,
                     code == 127   ? ": there is no such command"
                     : code == 126 ? ": it cannot be executed"
                                   : "");
    }
    return lose_program(p, err, why);
}

static void
write_some(struct stage_program *p)
{
    while (p->in >= 0 && p->to.from < p->to.n) {
        const ssize_t n =
            write(p->in, p->to.at + p->to.from, p->to.n - p->to.from);

        if (n > 0)
            p->to.from += (size_t)n;
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            close_end(&p->in); // the end of its output will show if it ended
    }
}

void
stage_program_send(struct stage_program *p, const char *line)
{
    REQUIRE(!strchr(line, '\n') && p->pending < STAGE_PENDING);
    if (p->lost)
        return;
    if (!p->pending)
        p->answered_early =
            read_bytes(p->out, &p->answer) > 0 || p->answer.from < p->answer.n;
    p->pending++;
    add_bytes(&p->to, line, strlen(line));
    add_bytes(&p->to, "\n", 1);
    write_some(p);
    pass_on_messages(p);
}

/* Waits for an event; 1 if `stop` is readable. */
static int
wait_for_event(struct stage_program *p, int stop, double until)
{
    const double left = 1000 * (until - clock_now());
    struct pollfd fd[] = {
        {.fd = stop, .events = POLLIN},
        {.fd = p->out, .events = POLLIN},
        {.fd = p->errors, .events = POLLIN},
        {.fd = p->to.from < p->to.n ? p->in : -1, .events = POLLOUT},
    };

    poll(fd, 4, left < 0 ? 0 : left < LOOK_MS ? (int)left + 1 : LOOK_MS);
    write_some(p);
    pass_on_messages(p);
    if (p->config.on_wait)
        p->config.on_wait(p->config.tool);
    return fd[0].revents != 0;
}

/* Finds a line of the answer in the bytes read: 1 with a line, 0 without, -1
 * with the reason if it is malformed. */
static int
find_line(struct stage_program *p, char **line, struct err *why)
{
    const size_t longest = p->config.longest;
    size_t n;

    *line = next_line(&p->answer, &n);
    if (!*line)
        n = p->answer.n - p->answer.from;
    if (n > longest)
        return err_set(why, "answered a line of over %zu bytes", longest);
    if (*line && strlen(*line) < n)
        return err_set(why, "answered a line with a byte of zero in it");
    return *line != NULL;
}

/* Waits for a line: STAGE_ANSWERED with *line.  Checks the clock and `stop`
 * before each read, as a program may write for ever. */
static enum stage_outcome
wait_line(struct stage_program *p, int stop, double until, char **line,
          struct err *err)
{
    struct err why;
    int found;

    while (!(found = find_line(p, line, &why))) {
        // before the read: an ended program writes no more
        const int ended = stage_process_ended(&p->process);
        int more;

        if (p->late)
            return lose_program(p, err, "did not answer in time");
        p->late = clock_now() >= until;
        more = read_bytes(p->out, &p->answer);
        if (more < 0 || (!more && ended))
            return lose_ended(p, err);
        if (wait_for_event(p, stop, more ? 0 : until))
            return STAGE_STOPPED;
    }
    return found > 0 ? STAGE_ANSWERED : lose_program(p, err, why.msg);
}

static enum stage_outcome
take_last(struct stage_program *p, const char *line,
          struct stage_answer *answer, struct err *err)
{
    const char *sentence = text_after(line, "error");

    p->lines = 0;
    p->misplaced = 0;
    p->pending--;
    if (!sentence) {
        answer->ok = mem_text(text_after(line, "ok"));
        return STAGE_ANSWERED;
    }
    set_harmless(err, mem_format("%s: %.300s", p->config.name, sentence));
    return STAGE_REFUSED;
}

enum stage_outcome
stage_program_take(struct stage_program *p, int stop,
                   struct stage_answer *answer, struct err *err)
{
    const double until = clock_now() + p->config.limit_s;
    struct err why;
    char *line;

    answer->ok = NULL;
    p->late = 0;
    if (p->lost)
        return lose_program(p, err, "has ended");
    REQUIRE(p->pending);
    if (p->answered_early)
        return lose_program(p, err, "answered what it was not asked");
    for (;;) {
        const enum stage_outcome outcome =
            wait_line(p, stop, until, &line, err);
        int rc;

        if (outcome != STAGE_ANSWERED)
            return outcome;
        if (text_after(line, "ok") || text_after(line, "error"))
            return take_last(p, line, answer, err);
        if (!answer->take)
            rc = err_set(
                &why, "answered '%.80s' where 'ok' or 'error' is wanted", line);
        else if (p->lines++ >= p->config.most)
            rc = err_set(&why, "answered more than %zu line%s and no 'ok'",
                         p->config.most, plural(p->config.most));
        else
            rc = answer->take(answer->of, line, &why);
        if (rc)
            return lose_program(p, err, why.msg);
    }
}

enum stage_outcome
stage_program_ask(struct stage_program *p, const char *line, int stop,
                  struct stage_answer *answer, struct err *err)
{
    stage_program_send(p, line);
    return stage_program_take(p, stop, answer, err);
}

enum stage_outcome
stage_program_ask_retry(struct stage_program *p, const char *line, int stop,
                        struct stage_answer *answer, struct err *err)
{
    const enum stage_outcome outcome =
        stage_program_ask(p, line, stop, answer, err);
    char *text;

    if (outcome != STAGE_LOST || (answer->retry && !answer->retry(answer->of)))
        return outcome;
    text = mem_format("%s: it is started again", err->msg);
    if (p->config.print)
        p->config.print(p->config.tool, text);
    free(text);
    return stage_program_restart(p, err)
               ? STAGE_LOST
               : stage_program_ask(p, line, stop, answer, err);
}

int
stage_program_value(const char **words, char *name, size_t size, double *number)
{
    const char *word = *words + strspn(*words, " ");
    const size_t n = strcspn(word, "= ");
    char *end;

    *words = word;
    if (!*word)
        return 0;
    if (word[n] != '=' || !n || n >= size)
        return -1;
    *number = strtod(word + n + 1, &end);
    if (end == word + n + 1 || (*end && *end != ' '))
        return -1;
    memcpy(name, word, n);
    name[n] = 0;
    *words = end;
    return 1;
}
