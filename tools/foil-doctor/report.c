#include <stdarg.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/opt.h"

#include "doctor.h"

static char *fault; // the first reason, or NULL

void
refuse_run(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!fault)
        fault = mem_format_list(fmt, ap);
    va_end(ap);
}

void
print_row(const char *name, const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    opt_row(stdout, name, text);
    free(text);
}

const char *
refusal(void)
{
    return fault;
}
