/* Starts a program with two pipes, and exchanges lines with it under a time limit. */
#define _POSIX_C_SOURCE 200809L
#include "program.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 64 << 20, CHUNK = 1 << 16 };

static char reason[400];            /* the text that the last failing call returned */

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static const char *because(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return reason;
}

double program_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- start and end -------------------------------------------------------------------------------------------------------------- */

/* The program leads a process group of its own, which gets no signals from the terminal: an interrupted conform kills this group. */
static volatile pid_t running;

static void interrupted(int signal_number) {
    if (running > 0) kill(-running, SIGKILL);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void prepare_signals(void) {
    static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
    signal(SIGPIPE, SIG_IGN);
    for (int k = 0; k < 3; k++)
        if (signal(deadly[k], interrupted) == SIG_IGN) signal(deadly[k], SIG_IGN);
}

static void exec_program(char *const *command, const int *in, const int *out, const int *failure) {
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    if (dup2(in[0], 0) >= 0 && dup2(out[1], 1) >= 0) {
        close(in[0]); close(in[1]); close(out[0]); close(out[1]);
        execvp(command[0], command);
    }
    if (write(failure[1], &errno, sizeof errno) < 0) _exit(126);
    _exit(127);
}

static void close_pair(const int *pair) { close(pair[0]); close(pair[1]); }

static int pipes(int pair[3][2]) {
    for (int k = 0; k < 3; k++) {
        if (!pipe(pair[k])) continue;
        while (k--) close_pair(pair[k]);
        return 1;
    }
    return 0;
}

const char *program_start(program *p, char *const *command) {
    enum { IN, OUT, FAILURE };
    int pair[3][2], failure = 0;
    ssize_t got;
    prepare_signals();
    memset(p, 0, sizeof *p);
    p->command = command;
    if (pipes(pair)) return because("a pipe cannot be opened: %s", strerror(errno));
    fcntl(pair[FAILURE][1], F_SETFD, FD_CLOEXEC);
    p->pid = fork();
    if (p->pid == 0) { close(pair[FAILURE][0]); exec_program(command, pair[IN], pair[OUT], pair[FAILURE]); }
    close(pair[IN][0]);
    close(pair[OUT][1]);
    close(pair[FAILURE][1]);
    p->to = pair[IN][1];
    p->from = pair[OUT][0];
    if (p->pid > 0) setpgid(p->pid, p->pid);
    running = p->pid;
    do got = read(pair[FAILURE][0], &failure, sizeof failure); while (got < 0 && errno == EINTR);
    close(pair[FAILURE][0]);
    if (p->pid < 0 || got > 0) {
        program_kill(p);
        return because("%.200s cannot be started: %s", command[0], strerror(got > 0 ? failure : errno));
    }
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    fcntl(p->from, F_SETFL, O_NONBLOCK);
    fcntl(p->to, F_SETFD, FD_CLOEXEC);
    fcntl(p->from, F_SETFD, FD_CLOEXEC);
    return NULL;
}

static void forget(program *p) {
    if (p->pid != 0) { close(p->to); close(p->from); }
    p->pid = running = 0;
    arrfree(p->received);
    p->given = 0;
}

void program_kill(program *p) {
    if (p->pid > 0) {
        kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) { }
    }
    forget(p);
}

void program_free(program *p) { program_kill(p); }

/* waits for the program to exit; returns 0 with its status, or 1 at the deadline */
static int reap(const program *p, double deadline, int *status) {
    const struct timespec nap = { 0, 2000000 };
    for (;;) {
        pid_t got = waitpid(p->pid, status, WNOHANG);
        if (got == p->pid) return 0;
        if (got < 0 && errno != EINTR) { *status = 0; return 0; }
        if (program_clock() >= deadline) return 1;
        nanosleep(&nap, NULL);
    }
}

/* the reason when the program has closed its output: it exited, or it still runs, and is then killed */
static const char *gone(program *p) {
    char *rest = NULL, *quoted;
    int status, runs = reap(p, program_clock() + 1, &status);
    if (arrlen(p->received)) {
        text_add(&rest, " after an incomplete line: ");
        text_excerpt(&rest, p->received, (size_t)arrlen(p->received), 60);
    }
    quoted = text_string(&rest);
    if (runs) because("it closed its output%s", quoted);
    else if (WIFSIGNALED(status)) because("it was killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)), quoted);
    else because("it exited with status %d%s", WEXITSTATUS(status), quoted);
    free(quoted);
    if (!runs) { kill(-p->pid, SIGKILL); forget(p); }
    else program_kill(p);
    return reason;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------------- */

static void drop_given(program *p) {
    if (p->given) arrdeln(p->received, 0, p->given);
    p->given = 0;
}

/* 1: bytes were read; 0: none are there yet; -1: end of file */
static int receive(program *p) {
    ssize_t got;
    char *room = arraddnptr(p->received, CHUNK);
    do got = read(p->from, room, CHUNK); while (got < 0 && errno == EINTR);
    arrsetlen(p->received, (size_t)arrlen(p->received) - CHUNK + (size_t)(got > 0 ? got : 0));
    if (got > 0) return 1;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

/* writes as much as the pipe takes; if the program has closed its input, the rest counts as written */
static size_t send_some(const program *p, const char *bytes, size_t count) {
    ssize_t sent;
    do sent = write(p->to, bytes, count); while (sent < 0 && errno == EINTR);
    if (sent >= 0) return (size_t)sent;
    return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : count;
}

static const char *too_late(program *p, double seconds, size_t unsent) {
    char *rest = NULL, *quoted;
    if (arrlen(p->received)) {
        text_add(&rest, ", only an incomplete line: ");
        text_excerpt(&rest, p->received, (size_t)arrlen(p->received), 60);
    } else if (unsent) text_add(&rest, "; it did not read the whole request");
    quoted = text_string(&rest);
    program_kill(p);
    because("no answer within %g s%s", seconds, quoted);
    free(quoted);
    return reason;
}

static const char *more_than_a_line(program *p) {
    char *rest = NULL, *quoted;
    text_excerpt(&rest, p->received + p->given, (size_t)arrlen(p->received) - p->given, 60);
    quoted = text_string(&rest);
    because("it wrote more than one line: %s", quoted);
    free(quoted);
    program_kill(p);
    return reason;
}

static const char *wait_for_either(program *p, int sending, double deadline) {
    struct pollfd end[2];
    double left = deadline - program_clock();
    end[0].fd = p->from;
    end[0].events = POLLIN;
    end[1].fd = sending ? p->to : -1;
    end[1].events = POLLOUT;
    end[0].revents = end[1].revents = 0;
    if (poll(end, 2, left > 0 ? (int)(1000 * left) + 1 : 0) < 0 && errno != EINTR) return because("poll: %s", strerror(errno));
    return NULL;
}

const char *program_ask(program *p, const char *line, size_t size, double seconds, const char **answer, size_t *answer_size) {
    double deadline = program_clock() + seconds;
    size_t sent = 0, looked = 0;
    const char *wrong;
    drop_given(p);
    for (;;) {
        char *end;
        int more = receive(p);
        size_t have = (size_t)arrlen(p->received);
        if (sent < size) sent += send_some(p, line + sent, size - sent);
        end = have > looked ? memchr(p->received + looked, '\n', have - looked) : NULL;
        if (end && sent == size) {
            *answer = p->received;
            *answer_size = (size_t)(end - p->received);
            p->given = *answer_size + 1;
            return p->given == have ? NULL : more_than_a_line(p);
        }
        if (!end) looked = have;
        if (more < 0) return gone(p);
        if (have > MAX_LINE) {
            program_kill(p);
            return because("it wrote more than %d MiB without a line break", MAX_LINE >> 20);
        }
        if (program_clock() >= deadline) return too_late(p, seconds, size - sent);
        if (!more && (wrong = wait_for_either(p, sent < size, deadline)) != NULL) { program_kill(p); return wrong; }
    }
}

/* a last answer is allowed and ignored */
const char *program_end(program *p, const char *line, double seconds) {
    double deadline = program_clock() + seconds;
    int status;
    if (!p->pid) return NULL;
    send_some(p, line, strlen(line));
    close(p->to);
    p->to = open("/dev/null", O_WRONLY);
    arrfree(p->received);
    while (reap(p, program_clock(), &status)) {
        int more = receive(p);
        const struct timespec nap = { 0, 2000000 };
        arrfree(p->received);
        if (program_clock() >= deadline) { program_kill(p); return because("it was still running %g s after the stop request", seconds); }
        if (more <= 0) nanosleep(&nap, NULL);
    }
    kill(-p->pid, SIGKILL);
    forget(p);
    if (WIFSIGNALED(status)) return because("after the stop request it was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status)) return because("after the stop request it exited with status %d", WEXITSTATUS(status));
    return NULL;
}
