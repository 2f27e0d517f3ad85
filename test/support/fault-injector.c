/*
 * Preloaded into a run: counts every call that can fail on files below FAULT_DIR, over all threads, and makes the one
 * with number FAULT_AT (and with FAULT_MODE=always all after it) fail with FAULT_ERRNO, or kills the process before or
 * after it. The count of all calls is written to FAULT_COUNT_FILE when the process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;
static char watched[4096];
static const char *dir, *mode;
static int at, error_number;

__attribute__((constructor)) static void start(void) {
  dir = getenv("FAULT_DIR");
  mode = getenv("FAULT_MODE");
  if (!mode) mode = "once";
  at = getenv("FAULT_AT") ? atoi(getenv("FAULT_AT")) : 0;
  error_number = getenv("FAULT_ERRNO") ? atoi(getenv("FAULT_ERRNO")) : EIO;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULT_COUNT_FILE");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) { fprintf(file, "%d", atomic_load(&calls)); fclose(file); }
}

static int is_below(const char *path) { return dir && path && strncmp(path, dir, strlen(dir)) == 0; }
static int is_watched(int fd) { return fd >= 0 && fd < (int)sizeof watched && watched[fd]; }

/* 0: go on. 1: fail. 2: go on, then die. */
static int meet(void) {
  int number = atomic_fetch_add(&calls, 1) + 1;
  if (at == 0) return 0;
  if (!strcmp(mode, "always") ? number < at : number != at) return 0;
  if (!strcmp(mode, "kill-before")) kill(getpid(), SIGKILL);
  return !strcmp(mode, "kill-after") ? 2 : 1;
}

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define MEET(condition, call)                                                                    \
  int fate = (condition) ? meet() : 0;                                                           \
  if (fate == 1) { errno = error_number; return -1; }                                            \
  __typeof__(call) result = call;                                                                \
  if (fate == 2) kill(getpid(), SIGKILL);

static int opened(int fd, const char *path) {
  if (fd >= 0 && fd < (int)sizeof watched) watched[fd] = is_below(path);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list list; va_start(list, flags); mode_t bits = va_arg(list, mode_t); va_end(list);
  REAL(int, "open64", const char *, int, mode_t);
  MEET(is_below(path), real(path, flags, bits));
  return opened(result, path);
}
int open(const char *path, int flags, ...) {
  va_list list; va_start(list, flags); mode_t bits = va_arg(list, mode_t); va_end(list);
  REAL(int, "open", const char *, int, mode_t);
  MEET(is_below(path), real(path, flags, bits));
  return opened(result, path);
}
ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  /* A write that dies dies in the middle. */
  MEET(is_watched(fd), real(fd, bytes, at && !strcmp(mode, "kill-after") && is_watched(fd) && count > 1 ? count / 2 : count));
  return result;
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t position) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  MEET(is_watched(fd), real(fd, bytes, count, position));
  return result;
}
ssize_t read(int fd, void *bytes, size_t count) {
  REAL(ssize_t, "read", int, void *, size_t);
  MEET(is_watched(fd), real(fd, bytes, count));
  return result;
}
ssize_t pread64(int fd, void *bytes, size_t count, off64_t position) {
  REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
  MEET(is_watched(fd), real(fd, bytes, count, position));
  return result;
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  MEET(is_watched(fd), real(fd));
  return result;
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  MEET(is_watched(fd), real(fd));
  return result;
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  MEET(is_below(from) || is_below(to), real(from, to));
  return result;
}
int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  MEET(is_below(from) || is_below(to), real(from, to));
  return result;
}
int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  MEET(is_below(path), real(path));
  return result;
}
int mkdir(const char *path, mode_t bits) {
  REAL(int, "mkdir", const char *, mode_t);
  MEET(is_below(path), real(path, bits));
  return result;
}
