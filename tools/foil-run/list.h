#ifndef FOIL_RUN_LIST_H
#define FOIL_RUN_LIST_H

#include <stddef.h>

#include "util/err.h"

/*
 * A stage list: what a run is made of, a line for each stage, as described in
 * foil-run(1).
 *
 *     # name   copies  restart   command
 *     train    main    never     foil-train -r $RUN
 *     augment  2       killed,3  foil-augment -r $RUN photos/
 *     select   1       killed,3  foil-select -r $RUN photos/
 *
 * Not safe to be used by two threads at once.
 */

/* After which end a stage is started again; each includes the one before. */
enum list_restart { LIST_NEVER, LIST_KILLED, LIST_FAILED, LIST_ALWAYS };

enum {
    LIST_MAX_COPIES = 1000,   /* of one stage */
    LIST_MAX_BYTES = 1 << 20, /* of a list */
    LIST_MAX_NAME = 64
};

struct list_stage {
    char *name;
    int is_main;               /* its end ends the run */
    int is_script;             /* a shell, asked to end with its whole group */
    int signal;                /* that asks it to end */
    int copies;                /* 1 .. LIST_MAX_COPIES */
    enum list_restart restart; /* when */
    long restarts;             /* how often at most; -1: no bound */
    char **argv;               /* NULL behind the last word */
    int line;                  /* where its command stands, from 1 */
};

struct list {
    struct list_stage *stage; /* in the order of the list */
    size_t n;                 /* at least 1 */
};

/*
 * list_read() parses a text; `name` is what errors call it, as in "mine:3: no
 * restart policy 'often'".  $NAME is taken from the environment.  Exactly one
 * stage is the main one: of a list of one stage that one.  -1 on error.  A list
 * is kept until the process ends (keep.h).
 */
int list_read(struct list *list, const char *name, const char *text,
              struct err *err);

/*
 * list_replace() puts another program in the place of the first word of a
 * stage's command: `text` is STAGE=COMMAND, the command quoted as in a list.
 * -1 on error, and the list stays as it was.
 */
int list_replace(struct list *list, const char *text, struct err *err);

/*
 * list_process_name() returns the name of a copy, counted from 0: that of the
 * stage, and its number behind it where there are several.
 */
char *list_process_name(const struct list_stage *stage, int copy);

/* list_findable() returns 0 when the command of a stage can be started, else
 * -1; errors begin with `list`, the name of the list. */
int list_findable(const struct list_stage *stage, const char *list,
                  struct err *err);

#endif
