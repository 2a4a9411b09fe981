#include "run/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/json.h"
#include "util/mem.h"

double
run_stage_value(const struct run_stage *stage, const char *name)
{
    return value_find(stage->status.values, stage->status.n, name);
}

struct run_stage *
run_stages_find(const struct run_stages *stages, const char *name,
                int64_t number)
{
    for (size_t i = 0; i < stages->n; i++)
        if (!strcmp(stages->stage[i].status.stage, name) &&
            stages->stage[i].status.number == number)
            return &stages->stage[i];
    return NULL;
}

void
run_stages_put(struct run_stages *stages, const struct wire_status *status,
               double received_at)
{
    struct run_stage *s =
        run_stages_find(stages, status->stage, status->number);
    double made;

    if (!s && stages->n == RUN_STAGES_MAX)
        return;
    if (!s) {
        mem_grow(&stages->stage, &stages->room, stages->n + 1, sizeof *s);
        s = &stages->stage[stages->n++];
        *s = (struct run_stage){.rate = NAN};
    }
    s->status = *status;
    s->received_at = received_at;
    made = run_stage_value(s, "made");
    if (s->since > 0 && made >= s->made && received_at > s->since) {
        const double rate = (made - s->made) / (received_at - s->since);

        s->rate = isnan(s->rate) ? rate : 0.7 * s->rate + 0.3 * rate;
    }
    s->made = made;
    s->since = received_at;
}

void
run_stages_save(const struct run_stages *stages, const char *run, int64_t total)
{
    json_t *list = json_array(), *all;
    FILE *file = fopen(mem_temp("%s/stages.json", run), "w");
    char *text;

    for (size_t i = 0; i < stages->n; i++) {
        const struct wire_status *s = &stages->stage[i].status;
        json_t *values = json_object();

        for (size_t k = 0; k < s->n; k++)
            json_object_set_new(values, s->values[k].name,
                                json_real(s->values[k].value));
        json_array_append_new(
            list, json_pack("{s:s s:I s:o}", "stage", s->stage, "number",
                            (json_int_t)s->number, "values", values));
    }
    all = json_pack("{s:I s:o}", "total", (json_int_t)total, "stages", list);
    text = json_line(all);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    json_decref(all);
    free(text);
}

void
run_stages_load(struct run_stages *stages, const char *run, int64_t total)
{
    json_t *file = json_load_file(mem_temp("%s/stages.json", run), 0, NULL);
    json_t *one, *value;
    const int is_last =
        total > 0 &&
        json_integer_value(json_object_get(file, "total")) == total;
    const char *name;
    size_t i;

    json_array_foreach(is_last ? json_object_get(file, "stages") : NULL, i, one)
    {
        struct wire_status s = {
            .number = json_integer_value(json_object_get(one, "number"))};
        const char *stage = json_string_value(json_object_get(one, "stage"));

        snprintf(s.stage, sizeof s.stage, "%s", stage ? stage : "");
        json_object_foreach(json_object_get(one, "values"), name, value)
        {
            if (s.n < WIRE_STATUS_MAX)
                value_add(s.values, &s.n, WIRE_STATUS_MAX, name,
                          json_number_value(value));
        }
        if (stage)
            run_stages_put(stages, &s, 0);
    }
    json_decref(file);
}

void
run_stages_release(struct run_stages *stages)
{
    free(stages->stage);
    *stages = (struct run_stages){0};
}

int
run_live_open(struct run_live *live, struct wire *wire, const char *endpoint,
              const char *const kinds[RUN_LISTENERS], size_t queue,
              struct err *err)
{
    const struct wire_limits limits = {.queue = queue};

    *live = (struct run_live){.received_at = 0};
    for (int i = 0; i < RUN_LISTENERS && kinds[i]; i++) {
        live->listener[i] =
            wire_listener_open(wire, endpoint, kinds[i], &limits, err);
        if (!live->listener[i])
            return -1;
    }
    return 0;
}

void
run_live_close(struct run_live *live)
{
    wire_msg_free(live->msg);
    for (int i = 0; i < RUN_LISTENERS; i++)
        wire_listener_close(live->listener[i]);
    run_stages_release(&live->stages);
}

/* Handles the newest message: 1 if the caller gets it. */
static int
take_message(struct run_live *live)
{
    struct err ignored;

    switch (wire_msg_kind(live->msg)) {
    case WIRE_METRICS:
        return !wire_metrics_get(&live->metrics, live->msg, &ignored) &&
               !strcmp(live->metrics.stage, "train");
    case WIRE_STATUS:
        if (wire_status_get(&live->status, live->msg, &ignored))
            return 0;
        if (live->past) // the run was resumed: drop the old stages
            run_stages_release(&live->stages);
        live->past = 0;
        run_stages_put(&live->stages, &live->status, live->received_at);
        return 1;
    case WIRE_EVENT:
        if (wire_event_get(&live->event, live->msg, &ignored))
            return 0;
        // a later event comes from a restarted trainer
        live->over = !strcmp(live->event.what, "stop");
        memcpy(live->reason, live->event.reason, sizeof live->reason);
        return 1;
    default:
        return 1;
    }
}

int
run_live_next(struct run_live *live)
{
    struct err ignored;

    for (int i = 0; i < RUN_LISTENERS; i++) {
        int rc;

        do {
            wire_msg_free(live->msg);
            live->msg = NULL;
            rc = live->listener[i]
                     ? wire_listener_next(live->listener[i], &live->msg,
                                          &live->missed, &ignored)
                     : 0;
            if (rc > 0)
                live->received_at = clock_now();
        } while (rc && (rc < 0 || !take_message(live)));
        if (rc)
            return 1;
    }
    return 0;
}
