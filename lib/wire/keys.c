#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "util/file.h"
#include "util/mem.h"
#include "wire/edge.h"
#include "wire/keys.h"

enum { CERT_MAX = 65536, KEY_BYTES = 32 };

int
wire_role_known(const char *role)
{
    return wire_edge_allows_role(WIRE_EDGE_ANY, WIRE_CONNECTS, role);
}

/* Copy the value of a line `name = "value"`; ignore any other line. */
static void
read_value(const char *line, const char *name, char *to, size_t room)
{
    const size_t n = strlen(name);
    size_t len;

    line += strspn(line, " \t");
    if (strncmp(line, name, n))
        return;
    line += n + strspn(line + n, " \t");
    if (*line != '=')
        return;
    line += 1 + strspn(line + 1, " \t\"'");
    len = strcspn(line, "\"'\r\n");
    if (len < room)
        snprintf(to, room, "%.*s", (int)len, line);
}

/* 1 when the text is a key: 40 characters of Z85. */
static int
is_key(const char *text)
{
    uint8_t bytes[KEY_BYTES];

    return strlen(text) == WIRE_KEY_TEXT - 1 && zmq_z85_decode(bytes, text);
}

static int
read_cert(struct wire_cert *cert, const char *path, int secret, struct err *err)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t len;
    char *text = file_read(path, CERT_MAX, &len, err);

    if (!text)
        return -1;
    *cert = (struct wire_cert){0};
    snprintf(cert->name, sizeof cert->name, "%.*s", (int)strcspn(base, "."),
             base);
    for (char *line = text; *line; line += *line == '\n') {
        read_value(line, "public-key", cert->public_key, WIRE_KEY_TEXT);
        read_value(line, "secret-key", cert->secret_key, WIRE_KEY_TEXT);
        read_value(line, "role", cert->role, sizeof cert->role);
        line += strcspn(line, "\n");
    }
    free(text);
    if (!is_key(cert->public_key) || (secret && !is_key(cert->secret_key)))
        return err_set(err, "'%s' is not a certificate with a %s key", path,
                       secret ? "secret" : "public");
    if (!wire_role_known(cert->role))
        return err_set(err,
                       "'%s' has no role: its metadata needs role = "
                       "\"select\", augment, train, negatives, tap or any",
                       path);
    return 0;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct wire_cert *)a)->name,
                  ((const struct wire_cert *)b)->name);
}

/* A user who can write there could add a key. */
static int
is_ours(const char *path, struct err *err)
{
    struct stat st;

    if (stat(path, &st))
        return err_sys(err, "cannot open '%s'", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(err,
                       "'%s' decides who may connect and belongs to another "
                       "user: chown it",
                       path);
    if (st.st_mode & 022)
        return err_set(err,
                       "'%s' decides who may connect and others can write to "
                       "it: chmod go-w",
                       path);
    return 0;
}

static int
read_allowed(struct wire_keys *keys, const char *folder, struct err *err)
{
    DIR *dir = opendir(folder);
    size_t room = 0;
    int rc = 0;

    if (!dir)
        return err_sys(err, "cannot open '%s'", folder);
    rc = is_ours(folder, err);
    for (struct dirent *entry; !rc && (entry = readdir(dir));) {
        const char *end = strrchr(entry->d_name, '.');
        const char *path = mem_temp("%s/%s", folder, entry->d_name);

        if (!end || strcmp(end, ".key"))
            continue;
        mem_grow(&keys->allowed, &room, keys->n + 1, sizeof *keys->allowed);
        rc = is_ours(path, err) ||
                     read_cert(&keys->allowed[keys->n], path, 0, err)
                 ? -1
                 : 0;
        keys->n += !rc;
    }
    closedir(dir);
    if (keys->n)
        qsort(keys->allowed, keys->n, sizeof *keys->allowed, by_name);
    return rc;
}

int
wire_keys_open(struct wire_keys *keys, const char *own, const char *allow,
               struct err *err)
{
    struct stat st;

    *keys = (struct wire_keys){0};
    if (stat(own, &st))
        return err_sys(err, "cannot open '%s'", own);
    if (st.st_mode & 077)
        return err_set(
            err, "'%s' holds a secret that others can read: chmod 600", own);
    if (read_cert(&keys->own, own, 1, err) || read_allowed(keys, allow, err)) {
        wire_keys_release(keys);
        return -1;
    }
    return 0;
}

void
wire_keys_release(struct wire_keys *keys)
{
    free(keys->allowed);
    *keys = (struct wire_keys){0};
}

const struct wire_cert *
wire_keys_find(const struct wire_keys *keys, const char *role, struct err *err)
{
    const struct wire_cert *found = NULL;

    for (size_t i = 0; i < keys->n; i++) {
        if (strcmp(keys->allowed[i].role, role))
            continue;
        if (found) {
            err_set(err, "two allowed keys have the role '%s': %s, %s", role,
                    found->name, keys->allowed[i].name);
            return NULL;
        }
        found = &keys->allowed[i];
    }
    if (!found)
        err_set(err, "no allowed key has the role '%s'", role);
    return found;
}

const char *
wire_keys_role(const struct wire_keys *keys, const void *key)
{
    for (size_t i = 0; i < keys->n; i++) {
        uint8_t bytes[KEY_BYTES];

        if (zmq_z85_decode(bytes, keys->allowed[i].public_key) &&
            !memcmp(bytes, key, sizeof bytes))
            return keys->allowed[i].role;
    }
    return NULL;
}

/* Writes a new file, and frees its text. */
static int
write_cert(const char *dir, const char *name, const char *ending, unsigned mode,
           char *text, struct err *err)
{
    const char *path = mem_temp("%s/%s%s", dir, name, ending);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), rc = 0;
    const size_t len = strlen(text);
    ssize_t n;

    if (fd < 0) {
        rc = err_sys(err, "cannot make '%s'", path);
    } else {
        n = write(fd, text, len);
        if (close(fd) || n != (ssize_t)len) {
            rc = err_sys(err, "cannot write '%s'", path);
            unlink(path);
        }
    }
    free(text);
    return rc;
}

int
wire_keys_make(const char *dir, const char *name, const char *role,
               struct err *err)
{
    char public_key[WIRE_KEY_TEXT], secret_key[WIRE_KEY_TEXT];
    int rc;

    if (!wire_role_known(role))
        return err_set(err, "no such role: '%s'", role);
    if (!*name || strpbrk(name, "/."))
        return err_set(err, "invalid name for a key: '%s'", name);
    if (zmq_curve_keypair(public_key, secret_key))
        return err_set(err, "this ZeroMQ was built without CURVE");
    if (file_mkdir(dir, 0700, err))
        return -1;

    rc = write_cert(
        dir, name, ".key_secret", 0600,
        mem_format("#   CURVE secret certificate of foil: keep it "
                   "secret.\n\nmetadata\n    role = \"%s\"\ncurve\n"
                   "    public-key = \"%s\"\n    secret-key = \"%s\"\n",
                   role, public_key, secret_key),
        err);
    if (rc)
        return -1;
    return write_cert(
        dir, name, ".key", 0644,
        mem_format("#   CURVE public certificate of foil.\n\nmetadata\n"
                   "    role = \"%s\"\ncurve\n    public-key = \"%s\"\n",
                   role, public_key),
        err);
}
