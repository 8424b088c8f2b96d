// Preloaded into a server, gives it the real-time clock that a test shows it. Clocks that only move forward are left as
// they are, so that the server's own waits go on. Nothing here allocates: some allocators look at the clock.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The file in $ONCEONLY_CLOCK. The test writes the word that is not in use, and then the turn, which says which one is.
// A word is a number of microseconds, and in its two lowest bits what to do with it. See clock.rs.
struct steering {
  int64_t words[2];
  uint8_t turn;
};
enum { REAL = 0, OFFSET = 1, FROZEN = 2 };

static const int64_t SECOND = 1000000;
static const struct steering *steering;

__attribute__((constructor)) static void attach(void) {
  const char *path = getenv("ONCEONLY_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *steering, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) steering = mapped;
  close(file);
}

static int64_t word(void) {
  if (!steering) return REAL;
  for (;;) {
    uint8_t turn = __atomic_load_n(&steering->turn, __ATOMIC_ACQUIRE);
    int64_t word = __atomic_load_n(&steering->words[turn & 1], __ATOMIC_ACQUIRE);
    if (turn == __atomic_load_n(&steering->turn, __ATOMIC_ACQUIRE)) return word;
  }
}

static int64_t microseconds(clockid_t clock) {
  struct timespec now = {0, 0};
  syscall(SYS_clock_gettime, clock, &now);
  return now.tv_sec * SECOND + now.tv_nsec / 1000;
}

// PostgreSQL notes when a wait is to end, has SIGALRM sent, and then looks at the clock whether that time has come. On a
// clock that stands still it never would. So its handler, which is where that signal is blocked, sees how long it is
// since the process last looked at the clock, which it does when it begins a wait.
static int64_t waited(void) {
  static int64_t looked;
  int64_t now = microseconds(CLOCK_MONOTONIC);
  sigset_t blocked;
  if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGALRM) == 1) {
    return now - __atomic_load_n(&looked, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&looked, now, __ATOMIC_RELAXED);
  return 0;
}

static int64_t shown(clockid_t clock) {
  int64_t steered = word(), value = steered >> 2;
  switch (steered & 3) {
    case OFFSET: return microseconds(clock) + value;
    case FROZEN: return value + waited();
    default: return microseconds(clock);
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    return (int)syscall(SYS_clock_gettime, clock, now);
  }
  int64_t time = shown(clock);
  now->tv_sec = time / SECOND;
  now->tv_nsec = time % SECOND * 1000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  int64_t time = shown(CLOCK_REALTIME);
  now->tv_sec = time / SECOND;
  now->tv_usec = time % SECOND;
  return 0;
}

time_t time(time_t *now) {
  time_t seconds = shown(CLOCK_REALTIME) / SECOND;
  if (now) *now = seconds;
  return seconds;
}
