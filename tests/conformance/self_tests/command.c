/* Runs a command with a time limit. */
#define _POSIX_C_SOURCE 200809L
#include "command.h"
#include "../runner/text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static pid_t start(const char *const *command, int *from) {
    int pair[2], nowhere;
    pid_t pid;
    if (pipe(pair)) abort();
    pid = fork();
    if (pid == 0) {
        nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 0);
        dup2(pair[1], 1);
        dup2(nowhere, 2);
        close(pair[0]);
        close(pair[1]);
        execvp(command[0], (char *const *)(uintptr_t)command);
        _exit(127);
    }
    close(pair[1]);
    *from = pair[0];
    return pid;
}

/* reads to the end of file; returns 1 if the deadline comes first */
static int read_all(int from, double deadline, char **t) {
    struct pollfd end = { 0, POLLIN, 0 };
    char block[1 << 16];
    end.fd = from;
    for (;;) {
        double left = deadline - now();
        ssize_t got;
        if (left <= 0) return 1;
        if (poll(&end, 1, (int)(1000 * left) + 1) <= 0) continue;
        got = read(from, block, sizeof block);
        if (got > 0) text_bytes(t, block, (size_t)got);
        else if (got == 0 || errno != EINTR) return 0;
    }
}

command_result command_run(const char *const *command, double limit) {
    command_result r = { 127, 0, NULL };
    double began = now();
    char *t = NULL;
    int from, status = 0;
    pid_t pid = start(command, &from);
    if (pid > 0) {
        if (read_all(from, began + limit, &t)) kill(pid, SIGTERM);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) { }
        r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close(from);
    r.seconds = now() - began;
    r.output = text_string(&t);
    return r;
}
