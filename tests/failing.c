/* Lets the n-th call fail that writes to a folder; see failing.py, which loads this before libc. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long calls, failing;
static int error_number, for_good;

/* Let the n-th call fail from now on with an error, or it and all that follow. */
void failing_start(const char *path, long n, int error, int all) {
    snprintf(folder, sizeof folder, "%s/", path);
    calls = 0;
    failing = n;
    error_number = error;
    for_good = all;
}

/* Return the number of calls since then. */
long failing_stop(void) {
    folder[0] = 0;
    return calls;
}

static int fails(const char *path) {
    if (!folder[0] || strncmp(path, folder, strlen(folder) - 1)) return 0;
    calls++;
    if (calls != failing && !(for_good && calls > failing)) return 0;
    errno = error_number;
    return 1;
}

static int fails_at(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int d, const void *b, size_t n) { return fails_at(d) ? -1 : NEXT(write)(d, b, n); }
ssize_t pwrite(int d, const void *b, size_t n, off_t o) {
    return fails_at(d) ? -1 : NEXT(pwrite)(d, b, n, o);
}
ssize_t pwrite64(int d, const void *b, size_t n, off64_t o) {
    return fails_at(d) ? -1 : NEXT(pwrite64)(d, b, n, o);
}
int fsync(int d) { return fails_at(d) ? -1 : NEXT(fsync)(d); }
int fdatasync(int d) { return fails_at(d) ? -1 : NEXT(fdatasync)(d); }
int ftruncate(int d, off_t n) { return fails_at(d) ? -1 : NEXT(ftruncate)(d, n); }
int ftruncate64(int d, off64_t n) { return fails_at(d) ? -1 : NEXT(ftruncate64)(d, n); }
int rename(const char *a, const char *b) { return fails(a) ? -1 : NEXT(rename)(a, b); }
int unlink(const char *p) { return fails(p) ? -1 : NEXT(unlink)(p); }
