#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/command.h"
#include "util/defuse.h"
#include "util/mem.h"

#include "bytes.h"
#include "group.h"

enum {
    HELD = 65536,    // bytes without the end of a line that are kept
    SHOWN = 1024,    // bytes of a line of its standard error that are printed
    BURST = 200,     // such lines that are printed in a period
    LATEST = 10,     // and of those above, the latest ones
    READS = 2,       // of its standard error at once: all that a pipe holds
    LOOK_MS = 100,   // between two looks whether the program still lives
    DESCRIPTOR = 10, // ours have at least this number: 0 to 3 are the program's
};

static const double moment = 3; // to end by itself
static const double second = 1; // to end after SIGTERM, or after its output did
static const double period = 10; // over which lines are counted

struct command {
    struct command_config config; // name and line are copies
    char *name, *line;            // these
    struct group group;
    int in, out, said; // our ends of its descriptors 0, 1, 2; -1: closed
    struct bytes to, answer, words;
    double since;         // when the period began
    size_t shown;         // lines of its standard error in it,
    size_t left_out;      // and those above BURST,
    char *latest[LATEST]; // line i of which is [i % LATEST]
    size_t owed;          // answers
    size_t lines;         // of the answer that comes
    int answered;         // once
    int late; // the time is over, and what the pipe had then is read
    int lost, unasked;
    int memory;
    void *map;
    size_t size;
};

static void
close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ------------------------------------------------------- standard error */

/* Prints a line and frees it. */
static void
print_line(const struct command *c, char *line)
{
    c->config.print(c->config.tool, line);
    free(line);
}

/* Prints the count of lines that were left out, and the latest of them, which
 * say why a program ended. */
static void
end_period(struct command *c)
{
    const size_t n = c->left_out,
                 first = n > LATEST ? n - LATEST : 0; // that is still there

    c->left_out = c->shown = 0;
    c->since = clock_now();
    if (first)
        print_line(c, mem_format("%s: %zu line%s of its standard error left "
                                 "out",
                                 c->config.name, first, plural(first)));
    for (size_t i = first; i < n; i++) {
        print_line(c, c->latest[i % LATEST]);
        c->latest[i % LATEST] = NULL;
    }
}

static void
print_or_leave_out(struct command *c, char *line)
{
    char **latest = &c->latest[c->left_out % LATEST];

    if (c->shown < BURST) {
        c->shown++;
        print_line(c, line);
        return;
    }
    free(*latest);
    *latest = line;
    c->left_out++;
}

/* Of what a terminal would draw over itself, the last state. */
static void
print_last_state(struct command *c, char *text)
{
    char *again, *line;

    while ((again = strrchr(text, '\r')) && !again[1])
        *again = 0;
    if (again)
        text = again + 1;
    if (!*text || !c->config.print)
        return;
    line = mem_format("%s: %.*s", c->config.name, SHOWN, text);
    defuse(line);
    print_or_leave_out(c, line);
}

/* Passes on what it has said so far; a line without end when it is long. */
static void
pass_on_messages(struct command *c)
{
    char *line;
    size_t n;
    int more = 1;

    if (clock_now() - c->since >= period)
        end_period(c);
    for (int i = 0; i < READS && c->said >= 0 && more > 0; i++) {
        more = bytes_read(c->said, &c->words);
        while ((line = bytes_line(&c->words, &n)))
            print_last_state(c, line);
        if (more < 0 || c->words.n - c->words.from > HELD) {
            bytes_add(&c->words, "", 1);
            print_last_state(c, c->words.at + c->words.from);
            bytes_clear(&c->words);
        }
        if (more < 0)
            close_end(&c->said);
    }
}

/* -------------------------------------------------------------- its life */

/* What we keep of a pipe does not block: end 0 to read, 1 to write. */
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
start_program(struct command *c, struct err *err)
{
    int theirs[4] = {-1, -1, -1, c->memory};
    int rc;

    if (open_pipe(&c->in, &theirs[0], 1) || open_pipe(&c->out, &theirs[1], 0) ||
        open_pipe(&c->said, &theirs[2], 0))
        rc = err_sys(err, "cannot start '%.200s'", c->config.line);
    else
        rc = group_start(&c->group, c->line, theirs, err);
    for (int i = 0; i < 3; i++)
        close_end(&theirs[i]);
    bytes_clear(&c->to);
    bytes_clear(&c->answer);
    bytes_clear(&c->words);
    c->owed = c->lines = 0;
    c->answered = c->unasked = 0;
    c->lost = rc != 0;
    return rc;
}

/* Waits until it has ended; what it still says goes on, what it still answers
 * is nobody's. */
static int
ends_within(struct command *c, double seconds)
{
    const double until = clock_now() + seconds;
    struct pollfd fd[2];

    while (!group_ended(&c->group) && clock_now() < until) {
        fd[0] = (struct pollfd){.fd = c->said, .events = POLLIN};
        fd[1] = (struct pollfd){.fd = c->out, .events = POLLIN};
        poll(fd, 2, c->out < 0 || c->said < 0 ? 5 : 20);
        pass_on_messages(c);
        if (c->out >= 0 && bytes_read(c->out, &c->answer) < 0)
            close_end(&c->out);
        bytes_clear(&c->answer);
    }
    return group_ended(&c->group);
}

/* Nothing of it is left afterwards. */
static void
end_program(struct command *c)
{
    close_end(&c->in);
    if (c->group.pid && !c->lost &&
        !ends_within(c, c->owed ? second : moment)) {
        group_ask(&c->group);
        ends_within(c, second);
    }
    group_end(&c->group);
    pass_on_messages(c);
    end_period(c);
    close_end(&c->out);
    close_end(&c->said);
}

static int
open_memory(struct command *c, struct err *err)
{
    const int fd = memfd_create("foil", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    c->memory = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR);
    if (fd >= 0)
        close(fd);
    if (c->memory < 0 || fcntl(c->memory, F_ADD_SEALS, F_SEAL_SHRINK))
        return err_sys(err, "cannot share memory with '%.200s'",
                       c->config.line);
    return 0;
}

struct command *
command_open(const struct command_config *config, struct err *err)
{
    struct command *c = mem_array(1, sizeof *c);

    c->config = *config;
    c->config.name = c->name = mem_text(config->name);
    c->config.line = c->line = mem_text(config->line);
    c->in = c->out = c->said = -1;
    signal(SIGPIPE, SIG_IGN);
    if (open_memory(c, err) || start_program(c, err)) {
        command_close(c);
        return NULL;
    }
    return c;
}

void
command_close(struct command *c)
{
    if (!c)
        return;
    end_program(c);
    if (c->map)
        munmap(c->map, c->size);
    close_end(&c->memory);
    free(c->to.at);
    free(c->answer.at);
    free(c->words.at);
    free(c->name);
    free(c->line);
    free(c);
}

int
command_restart(struct command *c, struct err *err)
{
    end_program(c);
    return start_program(c, err);
}

void *
command_memory(struct command *c, size_t bytes, struct err *err)
{
    void *map;

    REQUIRE(bytes && !c->owed);
    if (bytes <= c->size)
        return c->map;
    if (bytes > PTRDIFF_MAX || ftruncate(c->memory, (off_t)bytes)) {
        err_sys(err, "cannot share %zu bytes with '%.200s'", bytes,
                c->config.line);
        return NULL;
    }
    map = c->map ? mremap(c->map, c->size, bytes, MREMAP_MAYMOVE)
                 : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        c->memory, 0);
    if (map == MAP_FAILED) {
        err_sys(err, "cannot share %zu bytes with '%.200s'", bytes,
                c->config.line);
        return NULL;
    }
    c->map = map;
    c->size = bytes;
    return map;
}

/* --------------------------------------------------- requests and answers */

/* Others' words as a sentence; frees them. */
static void
set_harmless(struct err *err, char *text)
{
    defuse(text);
    err_set(err, "%s", text);
    free(text);
}

/* It is at its end, which `why` tells: what it is called comes before that. */
static enum command_came
lose_program(struct command *c, struct err *err, const char *why)
{
    c->lost = 1;
    end_program(c);
    c->owed = 0;
    set_harmless(err, mem_format("%s: '%.100s' %s", c->config.name,
                                 c->config.line, why));
    return COMMAND_LOST;
}

/* How it ended, or that it has closed its output. */
static enum command_came
lose_ended(struct command *c, struct err *err)
{
    char why[128] = "has closed its output without an answer";

    if (ends_within(c, second)) {
        const int status = c->group.status;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

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
    return lose_program(c, err, why);
}

static void
write_some(struct command *c)
{
    while (c->in >= 0 && c->to.from < c->to.n) {
        const ssize_t n =
            write(c->in, c->to.at + c->to.from, c->to.n - c->to.from);

        if (n > 0)
            c->to.from += (size_t)n;
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            close_end(&c->in); // whether it ends, its output tells
    }
}

void
command_send(struct command *c, const char *line)
{
    REQUIRE(!strchr(line, '\n') && c->owed < COMMAND_OWED);
    if (c->lost)
        return;
    if (!c->owed)
        c->unasked =
            bytes_read(c->out, &c->answer) > 0 || c->answer.from < c->answer.n;
    c->owed++;
    bytes_add(&c->to, line, strlen(line));
    bytes_add(&c->to, "\n", 1);
    write_some(c);
    pass_on_messages(c);
}

/* Waits for anything to happen.  1 when `stop` has. */
static int
wait_for_event(struct command *c, int stop, double until)
{
    const double left = 1000 * (until - clock_now());
    struct pollfd fd[] = {
        {.fd = stop, .events = POLLIN},
        {.fd = c->out, .events = POLLIN},
        {.fd = c->said, .events = POLLIN},
        {.fd = c->to.from < c->to.n ? c->in : -1, .events = POLLOUT},
    };

    poll(fd, 4, left < 0 ? 0 : left < LOOK_MS ? (int)left + 1 : LOOK_MS);
    write_some(c);
    pass_on_messages(c);
    if (c->config.waits)
        c->config.waits(c->config.tool);
    return fd[0].revents != 0;
}

/* Looks for a line of the answer in what was read: 1 with one, 0 without, -1
 * with why it is none. */
static int
find_line(struct command *c, char **line, struct err *why)
{
    const size_t longest = c->config.longest;
    size_t n;

    *line = bytes_line(&c->answer, &n);
    if (!*line)
        n = c->answer.n - c->answer.from;
    if (n > longest)
        return err_set(why, "answered a line of over %zu bytes", longest);
    if (*line && strlen(*line) < n)
        return err_set(why, "answered a line with a byte of zero in it");
    return *line != NULL;
}

/* Waits for one, COMMAND_OK when *line is it.  Clock and stop are asked before
 * each read, whatever comes: a program may write for ever. */
static enum command_came
wait_line(struct command *c, int stop, double until, char **line,
          struct err *err)
{
    struct err why;
    int found;

    while (!(found = find_line(c, line, &why))) {
        // whether it has ended is asked before what it has left is read
        const int ended = group_ended(&c->group);
        int more;

        if (c->late)
            return lose_program(c, err, "did not answer in time");
        c->late = clock_now() >= until;
        more = bytes_read(c->out, &c->answer);
        if (more < 0 || (!more && ended))
            return lose_ended(c, err);
        if (wait_for_event(c, stop, more ? 0 : until))
            return COMMAND_STOPPED;
    }
    return found > 0 ? COMMAND_OK : lose_program(c, err, why.msg);
}

/* Returns what stands behind a word that begins a line, or NULL. */
static const char *
text_behind(const char *line, const char *word)
{
    const size_t n = strlen(word);

    if (strncmp(line, word, n) || (line[n] && line[n] != ' '))
        return NULL;
    return line + n + (line[n] == ' ');
}

static enum command_came
take_last(struct command *c, const char *line, struct command_answer *answer,
          struct err *err)
{
    const char *sentence = text_behind(line, "error");

    c->lines = 0;
    c->owed--;
    c->answered = 1;
    if (!sentence) {
        answer->ok = mem_text(text_behind(line, "ok"));
        return COMMAND_OK;
    }
    set_harmless(err, mem_format("%s: %.300s", c->config.name, sentence));
    return COMMAND_REFUSED;
}

/* A line before the last one. */
static int
take_answer_line(struct command *c, const char *line,
                 struct command_answer *answer, struct err *err)
{
    if (!answer->take)
        return err_set(err, "answered '%.80s' where 'ok' or 'error' is wanted",
                       line);
    if (c->lines++ >= c->config.most)
        return err_set(err, "answered more than %zu line%s and no 'ok'",
                       c->config.most, plural(c->config.most));
    return answer->take(answer->of, line, err);
}

enum command_came
command_take(struct command *c, int stop, struct command_answer *answer,
             struct err *err)
{
    const double until =
        clock_now() + (c->answered ? c->config.patience : c->config.first);
    struct err why;
    char *line;

    answer->ok = NULL;
    c->late = 0;
    if (c->lost)
        return lose_program(c, err, "has ended");
    REQUIRE(c->owed);
    if (c->unasked)
        return lose_program(c, err, "answered what it was not asked");
    for (;;) {
        const enum command_came came = wait_line(c, stop, until, &line, err);

        if (came != COMMAND_OK)
            return came;
        if (text_behind(line, "ok") || text_behind(line, "error"))
            return take_last(c, line, answer, err);
        if (take_answer_line(c, line, answer, &why))
            return lose_program(c, err, why.msg);
    }
}

enum command_came
command_ask(struct command *c, const char *line, int stop,
            struct command_answer *answer, struct err *err)
{
    command_send(c, line);
    return command_take(c, stop, answer, err);
}

enum command_came
command_insist(struct command *c, const char *line, int stop,
               struct command_answer *answer, struct err *err)
{
    const enum command_came came = command_ask(c, line, stop, answer, err);
    char *text;

    if (came != COMMAND_LOST || (answer->again && !answer->again(answer->of)))
        return came;
    text = mem_format("%s: it is started again", err->msg);
    if (c->config.print)
        c->config.print(c->config.tool, text);
    free(text);
    return command_restart(c, err) ? COMMAND_LOST
                                   : command_ask(c, line, stop, answer, err);
}

int
command_value(const char **words, char *name, size_t size, double *number)
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
