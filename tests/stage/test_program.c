#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asked.h"
#include "t.h"
#include "util/mem.h"

/* A program that answers one request: how does that end? */
static enum stage_outcome
once(const char *line, double limit_s)
{
    struct text printed = {{0}, 0}, text = {{0}, 0};
    struct stage_program *c = start(line, &printed, limit_s);
    char ok[64];
    const enum stage_outcome outcome = ask(c, "go", &text, ok);

    stage_program_close(c);
    return outcome;
}

static void
answers_come_in_lines(void)
{
    struct text text = {{0}, 0}, printed = {{0}, 0};
    struct stage_program *c = start("while read n; do echo \"hears $n\" >&2; "
                                    "seq $n; echo ok $n lines; done",
                                    &printed, 60);
    char ok[64];

    T(ask(c, "3", &text, ok) == STAGE_ANSWERED && !strcmp(text.at, "1|2|3|") &&
          !strcmp(ok, "3 lines"),
      "an answer is lines, and a last one");
    text = (struct text){{0}, 0};
    T(ask(c, "0", &text, ok) == STAGE_ANSWERED && !text.lines &&
          !strcmp(ok, "0 lines"),
      "or the last one alone");
    stage_program_close(c);
    T(!strcmp(printed.at, "mine: hears 3|mine: hears 0|"),
      "what it says is printed, with its name");
    T(once("read x; echo ok", 60) == STAGE_ANSWERED, "'ok' is enough");
    T(once("read x; echo 'error so it is'", 60) == STAGE_REFUSED &&
          !strcmp(err.msg, "mine: so it is"),
      "an error is a sentence, with its name");
}

static void
values_are_words(void)
{
    static const char good[] = " a=1  bc=-2.5e3";
    static const char *const bad[] = {
        "a", "=1", "a=", "a=1x", "abcd=1", "a =1"};
    const char *words = good;
    char name[4];
    double x;

    T(stage_program_value(&words, name, sizeof name, &x) == 1 &&
          !strcmp(name, "a") && x == 1,
      "a value");
    T(stage_program_value(&words, name, sizeof name, &x) == 1 &&
          !strcmp(name, "bc") && x == -2500,
      "and another one");
    T(stage_program_value(&words, name, sizeof name, &x) == 0, "and no third");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        words = bad[i];
        T(stage_program_value(&words, name, sizeof name, &x) == -1 &&
              words == bad[i],
          "'%s' is none", bad[i]);
    }
}

static void
what_is_said_is_harmless(void)
{
    struct text printed = {{0}, 0}, text = {{0}, 0};
    struct stage_program *c =
        start("read x; printf '1%%\\r2%%\\r\\n\\033[2J\\377\\n' "
              ">&2; printf 'no end' >&2; echo ok",
              &printed, 60);
    char ok[64];

    T(ask(c, "go", &text, ok) == STAGE_ANSWERED, "it answers");
    stage_program_close(c);
    T(!strcmp(printed.at, "mine: 2%|mine: ?[2J?|mine: no end|"),
      "what it says moves no cursor, and its last line needs no end");
    T(once("read x; i=0; while [ $i -lt 3000 ]; do "
           "echo 'a line of its standard error, which is long enough'; "
           "i=$((i + 1)); done >&2; echo ok",
           60) == STAGE_ANSWERED,
      "it may say more than a pipe holds");
    T(once("read x; printf 'error \\033[31m'", 60) == STAGE_LOST,
      "an error without an end is none");
    T(once("read x; printf 'error \\033[31m\\n'", 60) == STAGE_REFUSED &&
          !strcmp(err.msg, "mine: ?[31m"),
      "nor does its sentence");
}

static void
what_ends_is_told(void)
{
    T(once("exit 3", 60) == STAGE_LOST &&
          !strcmp(err.msg,
                  "mine: 'exit 3' ended with code 3 before it answered"),
      "one that ends is told with its code");
    T(once("read x; kill -9 $$", 60) == STAGE_LOST &&
          !strcmp(err.msg,
                  "mine: 'read x; kill -9 $$' was ended by signal 9 (Killed)"),
      "one that is killed, with the signal");
    T(once("/none/such", 60) == STAGE_LOST &&
          !strcmp(err.msg, "mine: '/none/such' ended with code 127 before it "
                           "answered: there is no such command"),
      "one that is not there");
    T(once("exec >&-; sleep 100", 60) == STAGE_LOST &&
          strstr(err.msg, "has closed its output without an answer"),
      "one that closes its output");
    T(once("sleep 100 & exit 0", 60) == STAGE_LOST &&
          strstr(err.msg, "ended with code 0 before it answered"),
      "one that leaves a child with its output");
    T(once("sleep 100 & read x; echo ok", 60) == STAGE_ANSWERED,
      "which does not keep it from answering");
}

static void
what_is_no_answer_is_told(void)
{
    T(once("read x; echo no; echo ok", 60) == STAGE_LOST &&
          strstr(err.msg, " said 'no' of all things"),
      "a line that is not taken is the end");
    T(once("read x; yes", 60) == STAGE_LOST &&
          strstr(err.msg, "answered more than 50 lines and no 'ok'"),
      "so are too many");
    T(once("read x; head -c 100000 /dev/zero | tr '\\0' x; echo; echo ok",
           60) == STAGE_LOST &&
          strstr(err.msg, "answered a line of over 1000 bytes"),
      "and a long one");
    T(once("read x; head -c 1100 /dev/zero | tr '\\0' x; sleep 100", 60) ==
              STAGE_LOST &&
          strstr(err.msg, "answered a line of over 1000 bytes"),
      "with or without an end");
    T(once("read x; printf 'o\\0k\\nok\\n'", 60) == STAGE_LOST &&
          strstr(err.msg, "a byte of zero"),
      "and one with a zero in it");
    T(once("sleep 100", 0.2) == STAGE_LOST &&
          strstr(err.msg, "did not answer in time"),
      "and none in time");
    T(once("trap '' TERM; while :; do sleep 1; done", 0.2) == STAGE_LOST,
      "whatever it does about SIGTERM");
}

static int
count_again(void *of)
{
    return ++*(int *)of < 2;
}

static void
a_lost_one_is_started_again(void)
{
    struct text printed = {{0}, 0};
    struct stage_program *c =
        start("read x; grep -q y $FOIL_MEMORY && { echo ok; "
              "exit; }; printf y 1<>$FOIL_MEMORY; exit 3",
              &printed, 60);
    struct stage_answer answer = {0};
    int again = 0;

    stage_program_memory(c, 64, &err);
    T(stage_program_insist(c, "x", -1, &answer, &err) == STAGE_ANSWERED,
      "a program that is lost is asked once more");
    free(answer.ok);
    T(strstr(printed.at, "ended with code 3") &&
          strstr(printed.at, ": it is started again|"),
      "which is printed: %s", printed.at);
    stage_program_close(c);
    c = start("read x; exit 3", &printed, 60);
    answer = (struct stage_answer){.again = count_again, .of = &again};
    T(stage_program_insist(c, "x", -1, &answer, &err) == STAGE_LOST &&
          again == 1,
      "not twice");
    stage_program_close(c);
    c = start("read x; exit 3", NULL, 60);
    T(stage_program_insist(c, "x", -1, &answer, &err) == STAGE_LOST &&
          again == 2,
      "and not where its caller does not want it");
    stage_program_close(c);
}

static void
a_line_needs_a_taker(void)
{
    struct stage_program *c = start("read x; echo surprise; echo ok", NULL, 60);
    struct stage_answer answer = {0};

    T(stage_program_ask(c, "go", -1, &answer, &err) == STAGE_LOST &&
          strstr(err.msg,
                 "answered 'surprise' where 'ok' or 'error' is wanted"),
      "lines that nobody takes are no answer");
    T(stage_program_ask(c, "go", -1, &answer, &err) == STAGE_LOST,
      "what was lost stays so");
    stage_program_close(c);
}

/* It has said "ok" twice when we hear of its second request. */
static void
unasked_is_told(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c = start(
        "read x; echo ok; echo ok again; while read x; do :; done", NULL, 60);
    const struct timespec soon = {.tv_nsec = 20000000};
    enum stage_outcome outcome = STAGE_ANSWERED;
    char ok[64];

    outcome = ask(c, "one", &text, ok);
    T(outcome == STAGE_ANSWERED, "the first is answered");
    for (int i = 0; i < 10; i++)
        nanosleep(&soon, NULL);
    T(ask(c, "two", &text, ok) == STAGE_LOST &&
          strstr(err.msg, "answered what it was not asked"),
      "an answer to nothing is told");
    stage_program_close(c);
}

static void
requests_may_be_ahead(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c =
        start("while read n; do echo $n; echo ok; done", NULL, 60);
    struct stage_answer answer = {.take = keep, .of = &text};
    char line[16];
    int all = 1;

    for (int i = 0; i < STAGE_PENDING; i++) {
        snprintf(line, sizeof line, "%d", i);
        stage_program_send(c, line);
    }
    for (int i = 0; i < STAGE_PENDING; i++) {
        all &= stage_program_take(c, -1, &answer, &err) == STAGE_ANSWERED;
        free(answer.ok);
    }
    T(all && !strncmp(text.at, "0|1|2|3|4|5|", 12) &&
          text.lines == STAGE_PENDING,
      "requests may be sent ahead, and answers come in their order");
    stage_program_close(c);
}

static void
long_requests_need_no_reader(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c =
        start("sleep 0.3; read x; echo ${#x}; echo ok", NULL, 60);
    char *line = mem_array(300001, 1), ok[64];

    memset(line, 'x', 300000);
    T(ask(c, line, &text, ok) == STAGE_ANSWERED && !strcmp(text.at, "300000|"),
      "a request is longer than a pipe");
    stage_program_close(c);
    c = start("sleep 100", NULL, 0.2);
    T(ask(c, line, &text, ok) == STAGE_LOST,
      "nobody waits for a program that never reads");
    stage_program_close(c);
    free(line);
}

static void
a_stop_ends_the_wait(void)
{
    struct stage_program *c = start("read x; read x; echo ok", NULL, 60);
    struct stage_answer answer = {0};
    int fd[2];

    REQUIRE(!pipe(fd) && write(fd[1], "", 1) == 1);
    T(stage_program_ask(c, "one", fd[0], &answer, &err) == STAGE_STOPPED,
      "a stop ends a wait");
    stage_program_send(c, "two");
    T(stage_program_take(c, -1, &answer, &err) == STAGE_ANSWERED,
      "the answer may still be taken");
    free(answer.ok);
    stage_program_close(c);
    close(fd[0]);
    close(fd[1]);
}

static void
memory_is_shared(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c =
        start("while read n; do tr a-z A-Z <$FOIL_MEMORY | "
              "head -c $n | tr -c A-Z ' '; echo; "
              "printf hello | dd of=$FOIL_MEMORY conv=notrunc "
              "2>/dev/null; echo ok; done",
              NULL, 60);
    char *memory = stage_program_memory(c, 100, &err), ok[64];

    REQUIRE(memory);
    memcpy(memory, "text", 4);
    T(ask(c, "6", &text, ok) == STAGE_ANSWERED && !strcmp(text.at, "TEXT  |") &&
          !memcmp(memory, "hello", 5),
      "memory is read and written by both");
    memory = stage_program_memory(c, 1 << 22, &err);
    REQUIRE(memory);
    memory[(1 << 22) - 1] = 'z';
    text = (struct text){{0}, 0};
    T(!memcmp(memory, "hello", 5) && ask(c, "7", &text, ok) == STAGE_ANSWERED &&
          !strcmp(text.at, "HELLO  |"),
      "it grows, and what is in it stays");
    memcpy(memory, "again", 5);
    T(!stage_program_restart(c, &err) &&
          stage_program_memory(c, 5, &err) == memory &&
          ask(c, "5", memset(&text, 0, sizeof text), ok) == STAGE_ANSWERED &&
          !strcmp(text.at, "AGAIN|"),
      "a program that was started again finds it");
    stage_program_close(c);
    c = start("read x; (: >$FOIL_MEMORY) 2>/dev/null; truncate -s 1 "
              "$FOIL_MEMORY 2>/dev/null; echo ok",
              NULL, 60);
    memory = stage_program_memory(c, 8192, &err);
    memory[8191] = 'z';
    T(ask(c, "go", &text, ok) == STAGE_ANSWERED && memory[8191] == 'z',
      "no program makes it smaller");
    stage_program_close(c);
}

static void
it_starts_again(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c =
        start("read x; echo $x; echo ok; exit 1", NULL, 60);
    char ok[64];

    T(ask(c, "one", &text, ok) == STAGE_ANSWERED &&
          ask(c, "two", &text, ok) == STAGE_LOST,
      "a program is lost");
    text = (struct text){{0}, 0};
    T(!stage_program_restart(c, &err) &&
          ask(c, "three", &text, ok) == STAGE_ANSWERED &&
          !strcmp(text.at, "three|"),
      "and answers when it was started again");
    stage_program_close(c);
}

static int
take_any(void *of, const char *line, struct err *why)
{
    (void)of;
    (void)line;
    (void)why;
    return 0;
}

static void
an_endless_answer_ends(void)
{
    const struct stage_program_config config = {.name = "mine",
                                                .line = "read x; yes",
                                                .limit_s = 0.2,
                                                .longest = 1000,
                                                .most = SIZE_MAX};
    struct stage_program *c = stage_program_open(&config, &err);
    struct stage_answer answer = {.take = take_any};
    int fd[2];

    REQUIRE(c && !pipe(fd) && write(fd[1], "", 1) == 1);
    T(stage_program_ask(c, "go", fd[0], &answer, &err) == STAGE_STOPPED,
      "a stop ends the wait for an answer without end");
    T(stage_program_take(c, -1, &answer, &err) == STAGE_LOST &&
          strstr(err.msg, "did not answer in time"),
      "so does the limit: %s", err.msg);
    stage_program_close(c);
    close(fd[0]);
    close(fd[1]);
    T(once("read x; yes >&2; :", 0.2) == STAGE_LOST &&
          strstr(err.msg, "did not answer in time"),
      "messages without end do not delay it");
}

/* What was printed: how many lines, some of them. */
struct ends {
    size_t lines;
    char first[80], count[80], last[80];
};

static void
print_ends(void *tool, const char *line)
{
    struct ends *ends = tool;

    if (!ends->lines++)
        snprintf(ends->first, sizeof ends->first, "%s", line);
    if (strstr(line, "left out"))
        snprintf(ends->count, sizeof ends->count, "%s", line);
    snprintf(ends->last, sizeof ends->last, "%s", line);
}

static void
messages_are_limited(void)
{
    struct ends ends = {0};
    const struct stage_program_config config = {
        .name = "mine",
        .line = "read x; seq 100000 >&2; echo its end >&2; echo ok",
        .limit_s = 60,
        .longest = 1000,
        .print = print_ends,
        .tool = &ends};
    struct stage_program *c = stage_program_open(&config, &err);
    struct stage_answer answer = {0};

    REQUIRE(c);
    T(stage_program_ask(c, "go", -1, &answer, &err) == STAGE_ANSWERED,
      "it answers");
    free(answer.ok);
    stage_program_close(c);
    T(ends.lines < 2000, "%zu lines of 100,001 are printed", ends.lines);
    T(!strcmp(ends.first, "mine: 1") && !strcmp(ends.last, "mine: its end"),
      "the first and the last are: %s, %s", ends.first, ends.last);
    T(strstr(ends.count, " lines of its standard error left out"),
      "the others are counted: %s", ends.count);
}

/* Starts a program that leaves a process with a session of its own: its
 * number. */
static pid_t
leave_session(struct stage_program **c)
{
    struct text text = {{0}, 0};
    char ok[64];

    *c = start("read x; setsid sh -c 'echo $$; echo ok; exec sleep 1000' & "
               "wait",
               NULL, 60);
    REQUIRE(ask(*c, "go", &text, ok) == STAGE_ANSWERED);
    return (pid_t)strtol(text.at, NULL, 10);
}

/* It may be a process that has ended and that nobody has waited for yet. */
static int
becomes_gone(pid_t pid)
{
    const struct timespec soon = {.tv_nsec = 5000000};

    for (int i = 0; i < 6000 && !kill(pid, 0); i++)
        nanosleep(&soon, NULL);
    return kill(pid, 0) && errno == ESRCH;
}

static void
sessions_end(void)
{
    struct stage_program *c;
    pid_t pid = leave_session(&c), stage;
    int fd[2];

    T(getsid(pid) == pid && !kill(pid, 0),
      "a process with a session of its own");
    stage_program_close(c);
    T(becomes_gone(pid), "ends with the program");
    REQUIRE(!pipe(fd));
    stage = fork();
    if (!stage) {
        pid = leave_session(&c);
        if (write(fd[1], &pid, sizeof pid) == sizeof pid)
            raise(SIGKILL);
        _exit(1);
    }
    REQUIRE(read(fd[0], &pid, sizeof pid) == sizeof pid);
    waitpid(stage, NULL, 0);
    T(becomes_gone(pid), "and after a stage that was killed");
    close(fd[0]);
    close(fd[1]);
}

int
main(void)
{
    if (t_emulated()) {
        T_SKIP("a program that answers", "an emulator has no part in it");
        return t_done();
    }
    answers_come_in_lines();
    values_are_words();
    what_is_said_is_harmless();
    what_ends_is_told();
    what_is_no_answer_is_told();
    a_line_needs_a_taker();
    a_lost_one_is_started_again();
    unasked_is_told();
    requests_may_be_ahead();
    long_requests_need_no_reader();
    a_stop_ends_the_wait();
    memory_is_shared();
    it_starts_again();
    an_endless_answer_ends();
    messages_are_limited();
    sessions_end();
    return t_done();
}
