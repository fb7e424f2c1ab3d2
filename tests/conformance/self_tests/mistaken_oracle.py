#!/usr/bin/env python3
"""Runs the oracle's answer.py hundreds of times, each with another known mistake, without importing the oracle each time.

    mistaken_oracle.py serve COMMAND...      starts a server with the oracle imported, then runs COMMAND, which may start `ask`
    mistaken_oracle.py ask [ARGUMENT...]     like answer.py ARGUMENT..., with the standard input and output of this process

`ask` sends its two streams to the server, which forks a process that runs answer.py with them. An environment variable has the path of the
server's socket."""
import os
import signal
import socket
import sys

VARIABLE = "MISTAKEN_ORACLE"
ORACLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "oracle")


def ask(arguments):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[VARIABLE])
        socket.send_fds(server, ["\0".join(["answer.py", *arguments]).encode()], [0, 1])
        return int(server.recv(16) or b"1")  # an empty message: the process has died


def answer_for(client, answer):
    """In the forked process: runs answer.py with the streams and arguments of `ask`."""
    text, streams, _, _ = socket.recv_fds(client, 1 << 16, 2)
    for stream, place in zip(streams, (0, 1)):
        os.dup2(stream, place)
        os.close(stream)
    sys.argv = text.decode().split("\0")
    client.send(str(answer.main()).encode())


def serve(command):
    sys.path.insert(0, ORACLE)
    import answer
    import tempfile
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.join(folder, "socket"))
        server.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies of the processes that have answered
        child = os.fork()
        if child == 0:
            while True:
                client, _ = server.accept()
                if os.fork() == 0:
                    try:
                        answer_for(client, answer)
                    finally:
                        os._exit(0)
                client.close()
        os.environ[VARIABLE] = server.getsockname()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = os.spawnvp(os.P_WAIT, command[0], command)
        os.kill(child, signal.SIGTERM)
        return status


if __name__ == "__main__":
    sys.exit({"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2:]))
