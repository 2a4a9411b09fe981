#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t.h"
#include "user_program.h"
#include "util/mem.h"

/* Starts a program, sends one request and returns the outcome. */
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
    struct stage_program *c = start("while read n; do echo \"got $n\" >&2; "
                                    "seq $n; echo ok $n lines; done",
                                    &printed, 60);
    char ok[64];

    T(ask(c, "3", &text, ok) == STAGE_ANSWERED && !strcmp(text.at, "1|2|3|") &&
          !strcmp(ok, "3 lines"),
      "an answer is lines and a last one");
    text = (struct text){{0}, 0};
    T(ask(c, "0", &text, ok) == STAGE_ANSWERED && !text.lines &&
          !strcmp(ok, "0 lines"),
      "an answer may be only the last line");
    stage_program_close(c);
    T(!strcmp(printed.at, "mine: got 3|mine: got 0|"),
      "its standard error is printed after its name");
    T(once("read x; echo ok", 60) == STAGE_ANSWERED, "'ok' is enough");
    T(once("read x; echo 'error so it is'", 60) == STAGE_REFUSED &&
          !strcmp(err.msg, "mine: so it is"),
      "an error is a sentence after its name");
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
      "a second value");
    T(stage_program_value(&words, name, sizeof name, &x) == 0,
      "no third value");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        words = bad[i];
        T(stage_program_value(&words, name, sizeof name, &x) == -1 &&
              words == bad[i],
          "'%s' is none", bad[i]);
    }
}

static void
messages_are_harmless(void)
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
      "its messages move no cursor, and the last one needs no line end");
    T(once("read x; i=0; while [ $i -lt 3000 ]; do "
           "echo 'a line of its standard error, which is long enough'; "
           "i=$((i + 1)); done >&2; echo ok",
           60) == STAGE_ANSWERED,
      "it may print more than a pipe holds");
    T(once("read x; printf 'error \\033[31m'", 60) == STAGE_LOST,
      "an error without a line end is no answer");
    T(once("read x; printf 'error \\033[31m\\n'", 60) == STAGE_REFUSED &&
          !strcmp(err.msg, "mine: ?[31m"),
      "its sentence moves no cursor");
}

static void
an_end_is_reported(void)
{
    T(once("exit 3", 60) == STAGE_LOST &&
          !strcmp(err.msg,
                  "mine: 'exit 3' ended with code 3 before it answered"),
      "the end of a program is reported with its code");
    T(once("read x; echo ok fine >&2", 60) == STAGE_LOST &&
          strstr(err.msg, "its 'ok' or 'error' came on standard error"),
      "an answer on standard error is reported, too");
    T(once("read x; kill -9 $$", 60) == STAGE_LOST &&
          !strcmp(err.msg,
                  "mine: 'read x; kill -9 $$' was ended by signal 9 (Killed)"),
      "the signal that killed a program is reported");
    T(once("/none/such", 60) == STAGE_LOST &&
          !strcmp(err.msg, "mine: '/none/such' ended with code 127 before it "
                           "answered: there is no such command"),
      "a missing program");
    T(once("exec >&-; sleep 100", 60) == STAGE_LOST &&
          strstr(err.msg, "has closed its output without an answer"),
      "a program that closes its output");
    T(once("sleep 100 & exit 0", 60) == STAGE_LOST &&
          strstr(err.msg, "ended with code 0 before it answered"),
      "a program that leaves a child with its output");
    T(once("sleep 100 & read x; echo ok", 60) == STAGE_ANSWERED,
      "a child does not stop it from answering");
}

static void
malformed_answers_are_reported(void)
{
    T(once("read x; echo no; echo ok", 60) == STAGE_LOST &&
          strstr(err.msg, " answered 'no' of all things"),
      "a refused line ends the program");
    T(once("read x; yes", 60) == STAGE_LOST &&
          strstr(err.msg, "answered more than 50 lines and no 'ok'"),
      "too many lines end the program");
    T(once("read x; head -c 100000 /dev/zero | tr '\\0' x; echo; echo ok",
           60) == STAGE_LOST &&
          strstr(err.msg, "answered a line of over 1000 bytes"),
      "a long line ends the program");
    T(once("read x; head -c 1100 /dev/zero | tr '\\0' x; sleep 100", 60) ==
              STAGE_LOST &&
          strstr(err.msg, "answered a line of over 1000 bytes"),
      "with or without a line end");
    T(once("read x; printf 'o\\0k\\nok\\n'", 60) == STAGE_LOST &&
          strstr(err.msg, "a byte of zero"),
      "a line with a zero byte ends the program");
    T(once("sleep 100", 0.2) == STAGE_LOST &&
          strstr(err.msg, "did not answer in time"),
      "no answer in time ends the program");
    T(once("trap '' TERM; while :; do sleep 1; done", 0.2) == STAGE_LOST,
      "a program that ignores SIGTERM is lost in time");
}

static int
count_again(void *of)
{
    return ++*(int *)of < 2;
}

static void
a_lost_program_is_restarted(void)
{
    struct text printed = {{0}, 0};
    struct stage_program *c =
        start("read x; grep -q y $FOIL_MEMORY && { echo ok; "
              "exit; }; printf y 1<>$FOIL_MEMORY; exit 3",
              &printed, 60);
    struct stage_answer answer = {0};
    int again = 0;

    stage_program_memory(c, 64, &err);
    T(stage_program_ask_retry(c, "x", -1, &answer, &err) == STAGE_ANSWERED,
      "a lost program gets the request once more");
    free(answer.ok);
    T(strstr(printed.at, "ended with code 3") &&
          strstr(printed.at, ": it is started again|"),
      "the restart of a lost program is printed: %s", printed.at);
    stage_program_close(c);
    c = start("read x; exit 3", &printed, 60);
    answer = (struct stage_answer){.retry = count_again, .of = &again};
    T(stage_program_ask_retry(c, "x", -1, &answer, &err) == STAGE_LOST &&
          again == 1,
      "a program that is lost again gets no third request");
    stage_program_close(c);
    c = start("read x; exit 3", NULL, 60);
    T(stage_program_ask_retry(c, "x", -1, &answer, &err) == STAGE_LOST &&
          again == 2,
      "a program is not asked again if the caller declines");
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
      "lines without a taker are no answer");
    T(stage_program_ask(c, "go", -1, &answer, &err) == STAGE_LOST,
      "a lost program stays lost");
    stage_program_close(c);
}

/* The program has answered twice before its second request. */
static void
early_answers_are_reported(void)
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
      "an answer without a request is an error");
    stage_program_close(c);
}

static void
requests_may_be_ahead(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c =
        start("while read n; do echo $n; echo ok; done", NULL, 60);
    struct stage_answer answer = {.take = add_line, .of = &text};
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
      "several requests may be pending; answers keep their order");
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
      "a request may be longer than a pipe holds");
    stage_program_close(c);
    c = start("sleep 100", NULL, 0.2);
    T(ask(c, line, &text, ok) == STAGE_LOST,
      "a program that never reads is lost in time");
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
      "both read and write the memory");
    memory = stage_program_memory(c, 1 << 22, &err);
    REQUIRE(memory);
    memory[(1 << 22) - 1] = 'z';
    text = (struct text){{0}, 0};
    T(!memcmp(memory, "hello", 5) && ask(c, "7", &text, ok) == STAGE_ANSWERED &&
          !strcmp(text.at, "HELLO  |"),
      "it grows, and its contents stay");
    memcpy(memory, "again", 5);
    T(!stage_program_restart(c, &err) &&
          stage_program_memory(c, 5, &err) == memory &&
          ask(c, "5", memset(&text, 0, sizeof text), ok) == STAGE_ANSWERED &&
          !strcmp(text.at, "AGAIN|"),
      "a restarted program finds it");
    stage_program_close(c);
    c = start("read x; (: >$FOIL_MEMORY) 2>/dev/null; truncate -s 1 "
              "$FOIL_MEMORY 2>/dev/null; echo ok",
              NULL, 60);
    memory = stage_program_memory(c, 8192, &err);
    memory[8191] = 'z';
    T(ask(c, "go", &text, ok) == STAGE_ANSWERED && memory[8191] == 'z',
      "no program can make it smaller");
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
      "a program answers after a restart");
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
      "the limit ends the wait for an answer without end: %s", err.msg);
    stage_program_close(c);
    close(fd[0]);
    close(fd[1]);
    T(once("read x; yes >&2; :", 0.2) == STAGE_LOST &&
          strstr(err.msg, "did not answer in time"),
      "messages without end do not delay it");
}

/* The number of printed lines, and some of them. */
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

/* Starts a program that leaves a process in its own session; returns the
 * process's number. */
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

/* Waits until a process, possibly a zombie, has disappeared. */
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

    T(getsid(pid) == pid && !kill(pid, 0), "a process in its own session");
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
    T(becomes_gone(pid),
      "a process in its own session ends after a killed stage");
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
    messages_are_harmless();
    an_end_is_reported();
    malformed_answers_are_reported();
    a_line_needs_a_taker();
    a_lost_program_is_restarted();
    early_answers_are_reported();
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
