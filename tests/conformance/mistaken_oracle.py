#!/usr/bin/env python3
"""The oracle as hundreds of programs, each with one known mistake, without hundreds of starts of an interpreter.

    mistaken_oracle.py serve COMMAND...      runs COMMAND, as whose program under test `mistaken_oracle.py ask` may be started
    mistaken_oracle.py ask [ARGUMENT...]     answer.py ARGUMENT..., on this process's own standard input and output

`ask` hands its two streams to the server, which forks an answer.py for them. The socket's name is in the environment."""
import os
import signal
import socket
import sys

VARIABLE = "MISTAKEN_ORACLE"
ORACLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "oracle")


def ask(arguments):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[VARIABLE])
        socket.send_fds(server, ["\0".join(["answer.py", *arguments]).encode()], [0, 1])
        return int(server.recv(16) or b"1")  # nothing: the server's process has died


def answer_for(client, answer):
    """In a process of its own: the streams and arguments of `ask` are those of answer.py."""
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
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have answered
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
